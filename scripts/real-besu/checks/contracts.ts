import { randomBytes } from "node:crypto";
import { SigningKey } from "ethers";
import { z } from "zod";
import { developmentSigners } from "../../../lib/fee-collector/development-keys.ts";
import { feeCollectorAddress } from "../../../lib/fee-collector/fee-addresses.ts";
import { payCall } from "../../../lib/fee-collector/fee-calls.ts";
import { type FeeOrder, orderId, signOrder } from "../../../lib/fee-collector/fee-order.ts";
import { developmentFeeSettings } from "../../../lib/fee-collector/fee-settings.ts";
import { type FeeEvent, feeEventTopics, readFeeEvent } from "../../../lib/fee-collector/read-fee-event.ts";
import { splitFee } from "../../../lib/fee-collector/split-fee.ts";
import { claimant, funded } from "../accounts.ts";
import type { Verdict } from "../check.ts";
import { type Chain, isMined, isStandIn, nonceOf, send } from "../transactions.ts";

const logSchema = z.object({ address: z.string(), topics: z.array(z.string()), data: z.string() });
const receiptSchema = z.object({ status: z.string(), blockNumber: z.string(), logs: z.array(logSchema) });
const payGasMax = 500_000n;
const validForSeconds = 3600;

/** A merchant's order, signed by the service, paid by a customer, and found in the logs as the API finds it. */
export async function paidOrder(rig: Chain): Promise<Verdict> {
  if (await isStandIn(rig)) return { ok: "not provable", seen: "a stand-in runs no contracts" };
  const { chainId } = rig.manifest;
  const { owner, treasury } = developmentFeeSettings;
  const feeCollector = feeCollectorAddress({ owner, treasury });
  const { result: code } = await rig.gateway("eth_getCode", [feeCollector, "latest"]);
  if (code === "0x" || code === undefined)
    return { ok: false, seen: `up deployed no FeeCollector: ${feeCollector} has no code` };
  const order: FeeOrder = {
    ref: `0x${randomBytes(32).toString("hex")}`,
    source: "payments",
    payee: claimant.address,
    ...{ amount: 1_000_003n, fee: 20_007n },
    validUntil: Math.floor(Date.now() / 1000) + validForSeconds,
  };
  const place = { order, chainId, feeCollector };
  const signingKey = new SigningKey(developmentSigners.payments.privateKey);
  const data = payCall({ order, signature: signOrder({ ...place, signingKey }) });
  const before = await balances(rig, [claimant.address, treasury]);
  const sending = { to: feeCollector, value: order.amount, data, gasLimit: payGasMax };
  const hash = await send(rig, await nonceOf(rig), sending);
  const seconds = await rig.until("the order is paid", () => isMined(rig, hash));
  const { result } = await rig.gateway("eth_getTransactionReceipt", [hash]);
  const receipt = receiptSchema.parse(result);
  const { blockNumber } = receipt;
  const filter = { fromBlock: blockNumber, toBlock: blockNumber, address: feeCollector };
  const found = await rig.gateway("eth_getLogs", [{ ...filter, topics: [feeEventTopics] }]);
  const logs = z.array(logSchema).parse(found.result);
  const after = await balances(rig, [claimant.address, treasury]);
  const call = { from: funded.address, to: feeCollector, value: `0x${order.amount.toString(16)}`, data };
  const again = await rig.gateway("eth_call", [call, "latest"]);
  const wrong = whatIsWrong({
    event: logs.map(readFeeEvent).find((event) => event !== undefined),
    ...{ order, id: orderId(place), status: receipt.status, isTwice: again.error === undefined },
    gained: after.map((balance, index) => balance - (before[index] ?? 0n)),
  });
  if (wrong.length > 0) return { ok: false, seen: wrong.join("; ") };
  return {
    ok: true,
    seen: `paid after ${seconds} s, one event with its id and shares; payee and treasury have theirs; a second time is refused: "${again.error?.message ?? ""}"`,
  };
}

/** By the order alone what its payment has to come to. Empty where all is so. */
export function whatIsWrong({
  order,
  id,
  status,
  event,
  gained,
  isTwice,
}: {
  order: FeeOrder;
  id: string;
  /** Of the receipt. */
  status: string;
  event: FeeEvent | undefined;
  /** Wei that payee and treasury have more. */
  gained: readonly bigint[];
  /** Whether the contract would take the order once more. */
  isTwice: boolean;
}): string[] {
  const { burned, treasury } = splitFee(order.fee);
  const expected: Readonly<Record<string, unknown>> = {
    ...{ kind: "paid", id, source: order.source, payee: order.payee, payer: funded.address },
    ...{ amount: order.amount, fee: order.fee, burned },
  };
  const told: Readonly<Record<string, unknown>> = { ...event };
  const shares = [order.amount - order.fee, treasury];
  return [
    ...(status === "0x1" ? [] : [`the payment failed: status ${status}`]),
    ...Object.entries(expected)
      .filter(([name, value]) => told[name] !== value)
      .map(([name, value]) => `the event's ${name} is ${String(told[name])}, and not ${String(value)}`),
    ...["the payee", "the treasury"].flatMap((who, index) =>
      gained[index] === shares[index] ? [] : [`${who} has ${gained[index]} more, and not ${shares[index]}`],
    ),
    ...(isTwice ? ["the contract would take the order twice"] : []),
  ];
}

async function balances(rig: Chain, addresses: readonly string[]): Promise<bigint[]> {
  return Promise.all(
    addresses.map(async (address) =>
      BigInt(z.string().parse((await rig.gateway("eth_getBalance", [address, "latest"])).result)),
    ),
  );
}
