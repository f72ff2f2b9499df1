import { Wallet } from "ethers";
import { z } from "zod";
import { claimant, funded } from "./accounts.ts";
import type { Rig } from "./rig.ts";

const minedSchema = z.object({ blockNumber: z.string() });
const hashSchema = z.string().regex(/^0x[0-9a-f]{64}$/);
const transferGas = 21_000n;

/** What a look needs that only sends and asks. */
export type Chain = Pick<Rig, "gateway" | "node" | "until"> & { manifest: Pick<Rig["manifest"], "chainId"> };

/** What is sent; without `to` it creates a contract. */
export type Sending = { to?: string; value?: bigint; data?: string; gasLimit?: bigint };

/** So much goes to whoever claims. */
export function transfer(value: bigint): Sending {
  return { to: claimant.address, value };
}

export async function nonceOf(rig: Chain): Promise<number> {
  return Number((await rig.gateway("eth_getTransactionCount", [funded.address, "latest"])).result);
}

/** Signs with the account that has tokens, for a price of zero. @returns the transaction's hash. */
export async function send(rig: Chain, nonce: number, sending: Sending): Promise<string> {
  const raw = await new Wallet(funded.privateKey).signTransaction({
    ...{ gasLimit: transferGas, value: 0n, ...sending, nonce, gasPrice: 0n },
    chainId: BigInt(rig.manifest.chainId),
  });
  const { result, error } = await rig.gateway("eth_sendRawTransaction", [raw]);
  const hash = hashSchema.safeParse(result).data;
  if (hash === undefined) throw new Error(`a transaction was refused: ${error?.message ?? "no answer"}`);
  return hash;
}

export async function isMined(rig: Chain, hash: string): Promise<boolean> {
  const { result } = await rig.gateway("eth_getTransactionReceipt", [hash]);
  return minedSchema.safeParse(result).success;
}

/** Whether the nodes are the tests' own, which run no contracts. */
export async function isStandIn(rig: Chain): Promise<boolean> {
  return String((await rig.node(0, "web3_clientVersion"))?.result).includes("stand-in");
}
