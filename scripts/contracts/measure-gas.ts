import { setTimeout as sleep } from "node:timers/promises";
import { SigningKey } from "ethers/crypto";
import { z } from "zod";
import { createRpcClient } from "../../lib/chain/rpc-client.ts";
import { hexQuantity, quantity } from "../../lib/chain/rpc-values.ts";
import { developmentOwner, developmentSigners } from "../../lib/fee-collector/development-keys.ts";
import {
  burnSinkInitCode,
  create2Factory,
  deploymentSalt,
  depositBoxAddress,
  feeCollectorInitCode,
} from "../../lib/fee-collector/fee-addresses.ts";
import { collectCall, payCall, type SignedOrder } from "../../lib/fee-collector/fee-calls.ts";
import { type FeeOrder, orderId, signOrder } from "../../lib/fee-collector/fee-order.ts";
import { developmentFeeSettings } from "../../lib/fee-collector/fee-settings.ts";
import { network } from "../../lib/network.ts";
import { type OwnAnvil, startOwnAnvil } from "../processes/own-anvil.ts";
import { deployContracts } from "./deploy-contracts.ts";

const { feeCollector } = developmentFeeSettings;
const place = { chainId: network.chainId, feeCollector };
const payer = "0x70997970C51812dc3A010C7d01b50e0d17dc79C8";
const merchant = "0x00000000000000000000000000000000003e2c4a";
const token = 10n ** 18n;

/** Gas of each use, on a chain of its own: the same figures each time, since orders, keys and signatures are the same. */
export async function measureGas(): Promise<Readonly<Record<string, number>>> {
  const stops: (() => unknown)[] = [];
  try {
    return await measureOn(await startOwnAnvil({ teardown: (stop) => stops.push(stop) }));
  } finally {
    for (const stop of stops) await stop();
  }
}

async function measureOn(chain: OwnAnvil): Promise<Readonly<Record<string, number>>> {
  const send = (call: { to?: string; data?: string; value?: bigint }) => gasOf(chain, call);
  const deploy = (initCode: string) =>
    send({ to: create2Factory, data: `${deploymentSalt}${initCode.slice(2)}` });
  const burnSink = await deploy(burnSinkInitCode);
  const collector = await deploy(feeCollectorInitCode(developmentFeeSettings));
  await allowSigners(chain.url);
  const pay = (signed: SignedOrder) => send({ data: payCall(signed), value: signed.order.amount });
  const purchase = (number: number) =>
    signedOrder({ number, payee: null, amount: 100n * token, fee: 100n * token });
  const invoice = (number: number, fee: bigint) =>
    signedOrder({ number, payee: merchant, amount: 10n * token, fee });
  const [first, later] = [await pay(purchase(1)), await pay(purchase(2))];
  // The first payment makes the merchant's account.
  await pay(invoice(3, 0n));
  const [free, withFee] = [await pay(invoice(4, 0n)), await pay(invoice(5, token / 10n))];
  const parts = invoice(6, token / 10n);
  const box = depositBoxAddress({ feeCollector, id: orderId({ order: parts.order, ...place }) });
  const transfer = await send({ to: box, value: token });
  const collect = await send({ data: collectCall(parts) });
  const transferToCode = await send({ to: box, value: token });
  const collectAgain = await send({ data: collectCall(parts) });
  return {
    "deployment of the burn sink": burnSink,
    "deployment of the FeeCollector": collector,
    "purchase, the first of a source": first,
    "purchase, later": later,
    "invoice without a fee": free,
    "invoice with a fee": withFee,
    "transfer to a deposit box": transfer,
    "first collection of a box": collect,
    "transfer to a box with code": transferToCode,
    "next collection": collectAgain,
  };
}

async function allowSigners(url: string): Promise<void> {
  const rpc = createRpcClient({ url, timeoutMs: 10_000 });
  try {
    await deployContracts({
      rpc,
      chainId: network.chainId,
      settings: developmentFeeSettings,
      ownerKey: async () => developmentOwner.privateKey,
    });
  } finally {
    await rpc.stop();
  }
}

function signedOrder({
  number,
  ...terms
}: { number: number } & Pick<FeeOrder, "payee" | "amount" | "fee">): SignedOrder {
  const ref = `0x${number.toString(16).padStart(64, "f")}`;
  const order: FeeOrder = { ref, source: "svc_dev", validUntil: 4_000_000_000, ...terms };
  const signingKey = new SigningKey(developmentSigners.svc_dev.privateKey);
  return { order, signature: signOrder({ order, ...place, signingKey }) };
}

const receiptSchema = z.object({ status: z.literal("0x1"), gasUsed: quantity });
const pollMs = 10;

async function gasOf(
  chain: OwnAnvil,
  { to = feeCollector, data = "0x", value = 0n }: { to?: string; data?: string; value?: bigint },
): Promise<number> {
  const call = { from: payer, to, data, value: hexQuantity(value), gas: hexQuantity(5_000_000) };
  const hash = await chain.rpc("eth_sendTransaction", [call]);
  for (;;) {
    const receipt = await chain.rpc("eth_getTransactionReceipt", [hash]);
    if (receipt !== null) return receiptSchema.parse(receipt).gasUsed;
    await sleep(pollMs);
  }
}
