import { setTimeout as sleep } from "node:timers/promises";
import { Wallet } from "ethers/wallet";
import { z } from "zod";
import type { RpcClient } from "../../lib/chain/rpc-client.ts";
import { hash, quantity, wei } from "../../lib/chain/rpc-values.ts";
import { CommandError } from "../../lib/cli/command.ts";
import { feeCollectorInterface } from "../../lib/fee-collector/artifacts.ts";
import {
  burnSinkAddress,
  burnSinkInitCode,
  create2Factory,
  deploymentSalt,
  feeCollectorInitCode,
} from "../../lib/fee-collector/fee-addresses.ts";
import type { FeeSettings } from "../../lib/fee-collector/fee-settings.ts";
import { sourceBytes } from "../../lib/fee-collector/fee-sources.ts";
import { type ContractsStanding, readStanding, resultOf } from "./read-standing.ts";

type Step = { text: string; to: string; data: string; gasLimit: number };

const minedWithinMs = 60_000;
const pollMs = 100;

/** More than each needs (test/scripts/contracts/ measures): an estimate would fail for a step that stands on the one before. */
const sinkGasMax = 100_000;
const collectorGasMax = 4_000_000;
const signerGasMax = 120_000;

/**
 * Brings the contracts of the settings onto a chain: burn sink, FeeCollector, signers. It looks first and sends what is
 * missing, all at once, then waits for the receipts. Answers what it did; nothing where all is there.
 *
 * @throws CommandError in words, ChainUnavailableError.
 */
export async function deployContracts({
  rpc,
  chainId,
  settings,
  ownerKey,
  say = () => {},
  afterSending = async () => {},
}: {
  rpc: Pick<RpcClient, "ask" | "askAll">;
  /** Of the chain that is meant. */
  chainId: number;
  settings: FeeSettings;
  /** The owner's private key, asked for only where something has to be sent. */
  ownerKey: () => Promise<string>;
  say?: (line: string) => void;
  /** Before the receipts are waited for: a dev chain can be told to make a block. */
  afterSending?: () => Promise<void>;
}): Promise<string[]> {
  const standing = await readStanding({ rpc, settings });
  refuseWhatCannotBe(standing, chainId);
  const steps = stepsFor(standing, settings);
  if (steps.length === 0) return [];
  const wallet = new Wallet(await ownerKey());
  const owner = standing.says?.owner ?? settings.owner;
  if (wallet.address !== owner) {
    const text = `The FeeCollector's owner is ${owner}, but the key is of ${wallet.address}.`;
    throw new CommandError(text, { exitCode: 1 });
  }
  await sendAll({ rpc, chainId, wallet, steps, say, afterSending });
  return steps.map(({ text }) => text);
}

/** Sends the owner's transactions, one nonce after the other, and waits until all are mined. */
export async function sendAll({
  rpc,
  chainId,
  wallet,
  steps,
  say,
  afterSending = async () => {},
}: {
  rpc: Pick<RpcClient, "ask" | "askAll">;
  chainId: number;
  wallet: Wallet;
  steps: readonly Step[];
  say: (line: string) => void;
  afterSending?: () => Promise<void>;
}): Promise<void> {
  const [count, block] = await rpc.askAll([
    { method: "eth_getTransactionCount", params: [wallet.address, "pending"] },
    { method: "eth_getBlockByNumber", params: ["latest", false] },
  ]);
  const firstNonce = quantity.parse(resultOf(count));
  const { baseFeePerGas } = blockSchema.parse(resultOf(block));
  const raw: string[] = [];
  for (const [index, { to, data, gasLimit }] of steps.entries()) {
    const signed = await wallet.signTransaction({
      type: 2,
      chainId,
      nonce: firstNonce + index,
      to,
      data,
      gasLimit,
      // Nothing where the base fee is zero, as on our networks: then the owner needs no tokens.
      maxFeePerGas: 2n * baseFeePerGas,
      maxPriorityFeePerGas: 0n,
    });
    raw.push(signed);
  }
  const sent = await rpc.askAll(raw.map((bytes) => ({ method: "eth_sendRawTransaction", params: [bytes] })));
  const hashes = sent.map((answer) => hash.parse(resultOf(answer)));
  await afterSending();
  for (const [index, { text }] of steps.entries()) {
    await waitForReceipt(rpc, { text, txHash: hashes[index] ?? "" });
    say(text);
  }
}

/** What allows a signer of a source, or takes it away. */
export function signerStep({
  feeCollector,
  source,
  signer,
  allowed,
}: {
  feeCollector: string;
  source: string;
  signer: string;
  allowed: boolean;
}): Step {
  return {
    text: `${allowed ? "allowed" : "revoked"} signer ${signer} for ${source}`,
    to: feeCollector,
    data: feeCollectorInterface.encodeFunctionData("setSigner", [sourceBytes(source), signer, allowed]),
    gasLimit: signerGasMax,
  };
}

export function refuseWhatCannotBe(standing: ContractsStanding, chainId: number): void {
  const fail = (text: string) => {
    throw new CommandError(text, { exitCode: 1 });
  };
  if (standing.chainId !== chainId) {
    fail(`The node is of chain ${standing.chainId}, not of ${chainId}.`);
  }
  if (!standing.hasFactory) {
    fail(
      `This chain has no deployment factory at ${create2Factory}: a genesis block of "npm run genesis -- init" has it.`,
    );
  }
  if (standing.burnSink === "different") {
    fail(`${burnSinkAddress} has other code than the burn sink's: this is no chain to take fees on.`);
  }
  if (standing.feeCollector === "different") {
    fail("There is other code at the FeeCollector's address: this is no chain to take fees on.");
  }
}

function stepsFor(standing: ContractsStanding, settings: FeeSettings): Step[] {
  const { feeCollector } = settings;
  const deployment = (text: string, initCode: string, gasLimit: number): Step => ({
    text,
    to: create2Factory,
    data: `${deploymentSalt}${initCode.slice(2)}`,
    gasLimit,
  });
  return [
    ...(standing.burnSink === "missing"
      ? [deployment(`made the burn sink ${burnSinkAddress}`, burnSinkInitCode, sinkGasMax)]
      : []),
    ...(standing.feeCollector === "missing"
      ? [deployment(`made the FeeCollector ${feeCollector}`, feeCollectorInitCode(settings), collectorGasMax)]
      : []),
    ...standing.missingSigners.map((signer) => signerStep({ feeCollector, ...signer, allowed: true })),
  ];
}

async function waitForReceipt(
  rpc: Pick<RpcClient, "ask">,
  { text, txHash }: { text: string; txHash: string },
): Promise<void> {
  const until = performance.now() + minedWithinMs;
  for (;;) {
    const answer = resultOf(await rpc.ask("eth_getTransactionReceipt", [txHash]));
    const receipt = receiptSchema.parse(answer);
    if (receipt?.status === 1) return;
    if (receipt !== null) {
      throw new CommandError(`It failed on chain (${txHash}): ${text}.`, { exitCode: 1 });
    }
    if (performance.now() > until) {
      const seconds = minedWithinMs / 1000;
      throw new CommandError(
        `The chain did not take ${txHash} within ${seconds} s: is it making blocks? Then run this again.`,
        { exitCode: 1 },
      );
    }
    await sleep(pollMs);
  }
}

const blockSchema = z.object({ baseFeePerGas: wei.default(0n) });
const receiptSchema = z.object({ status: quantity }).nullable();
