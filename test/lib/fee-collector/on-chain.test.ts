import { randomBytes } from "node:crypto";
import { SigningKey } from "ethers/crypto";
import { Wallet } from "ethers/wallet";
import t from "tap";
import { z } from "zod";
import { feeCollectorInterface } from "../../../lib/fee-collector/artifacts.ts";
import { developmentSigners } from "../../../lib/fee-collector/development-keys.ts";
import { burnSinkAddress, depositBoxAddress } from "../../../lib/fee-collector/fee-addresses.ts";
import { collectCall, payCall } from "../../../lib/fee-collector/fee-calls.ts";
import {
  type FeeOrder,
  orderAmountWeiMax,
  orderId,
  orderOnChain,
  orderRef,
  signOrder,
} from "../../../lib/fee-collector/fee-order.ts";
import { developmentFeeSettings } from "../../../lib/fee-collector/fee-settings.ts";
import { type FeeEvent, readFeeEvent } from "../../../lib/fee-collector/read-fee-event.ts";
import { revertReason } from "../../../lib/fee-collector/revert-reason.ts";
import { splitFee } from "../../../lib/fee-collector/split-fee.ts";
import { startAnvil } from "../../helpers/anvil.ts";
import { deployOn } from "../../helpers/fee-collector.ts";
import { waitFor } from "../../helpers/wait-for.ts";

const chain = await startAnvil(t);
await deployOn(chain.url);

const { feeCollector, treasury } = developmentFeeSettings;
const place = { chainId: 8845, feeCollector };
const payer = "0x70997970C51812dc3A010C7d01b50e0d17dc79C8";
const signingKey = new SigningKey(developmentSigners.svc_dev.privateKey);
const soon = 4_000_000_000;

t.test(
  "an order has the id, the deposit box and the signer on chain that the library gives it",
  async (t) => {
    for (const changes of [{}, { payee: null, fee: 5n, amount: 5n }, { amount: orderAmountWeiMax }]) {
      const order = newOrder(changes);
      const id = orderId({ order, ...place });
      t.equal(await ask("idOf", [orderOnChain(order)]), id, "id");
      t.equal(await ask("boxOf", [id]), depositBoxAddress({ feeCollector, id }), "box");
    }
  },
);

t.test("a paid order's log says who paid, and what was burned", async (t) => {
  const order = newOrder({ payee: null, amount: 101n, fee: 101n });
  const before = { sink: await balance(burnSinkAddress), treasury: await balance(treasury) };
  const [event, ...more] = await send({ data: payCall(signed(order)), value: order.amount });
  const { burned, treasury: kept } = splitFee(101n);
  t.same(event, {
    kind: "paid",
    id: orderId({ order, ...place }),
    source: "svc_dev",
    payer,
    payee: null,
    amount: 101n,
    fee: 101n,
    burned,
  });
  t.same(more, []);
  t.equal((await balance(burnSinkAddress)) - before.sink, burned);
  t.equal((await balance(treasury)) - before.treasury, kept);
});

t.test("what lies in a box is passed on, with the fee as it grows", async (t) => {
  const order = newOrder({ amount: 1000n, fee: 10n });
  const id = orderId({ order, ...place });
  const box = depositBoxAddress({ feeCollector, id });
  await send({ to: box, data: "0x", value: 400n });
  const [first] = await send({ data: collectCall(signed(order)) });
  const shares = { kind: "collected", id, source: "svc_dev", payee: order.payee };
  t.same(first, { ...shares, amount: 400n, fee: 4n, burned: 1n, received: 400n });
  await send({ to: box, data: "0x", value: 700n });
  const [second] = await send({ data: collectCall(signed(order)) });
  // The order's whole fee is 10 wei, of which 3 are burned: 2 more.
  t.same(second, { ...shares, amount: 700n, fee: 6n, burned: 2n, received: 1100n });
});

t.test("a refusal of the contract is told in words", async (t) => {
  const order = newOrder({ amount: 10n ** 18n, fee: 0n });
  const good = { data: payCall(signed(order)), value: order.amount };
  t.equal(
    await refusalOf({ ...good, value: 1n }),
    "The order costs 1.0 TEST, but 0.000000000000000001 TEST were sent.",
  );
  t.match(
    await refusalOf({ data: payCall({ ...signed(order), order: { ...order, fee: 1n } }) }),
    /not signed/,
  );
  const late = newOrder({ validUntil: 1_700_000_000 });
  t.equal(
    await refusalOf({ data: payCall(signed(late)), value: late.amount }),
    "The order could be paid until 2023-11-14T22:13:20.000Z.",
  );
  t.equal(await refusalOf({ data: collectCall(signed(order)) }), "Nothing lies in the order's deposit box.");
  const tooMuch = newOrder({ amount: orderAmountWeiMax + 1n });
  t.match(await refusalOf({ data: payCall(signed(tooMuch)) }), /terms/);
  await send(good);
  t.equal(await refusalOf(good), "The order is paid already.");
  const begun = newOrder();
  const box = depositBoxAddress({ feeCollector, id: orderId({ order: begun, ...place }) });
  await send({ to: box, data: "0x", value: 1n });
  t.equal(
    await refusalOf({ data: payCall(signed(begun)), value: begun.amount }),
    `A transfer has begun to pay this order: send the rest to ${box}.`,
  );
});

t.test("every refusal that the contract knows has its sentence", async (t) => {
  feeCollectorInterface.forEachError((error) => {
    const zeros = error.inputs.map(({ type }) => (type === "address" ? payer : `0x${"00".repeat(32)}`));
    // What OpenZeppelin's parts refuse cannot happen to a payer.
    if (/^(?:Ownable|Invalid|String|ECDSA|Reentr)/.test(error.name)) return;
    t.notMatch(revertReason(feeCollectorInterface.encodeErrorResult(error, zeros)), /^The contract refused/);
  });
  for (const data of ["0x", "0x12345678", "nothing"]) t.equal(revertReason(data), undefined);
});

t.test("logs that say nothing of payments, and bytes that are no log, are passed over", async (t) => {
  const owed = feeCollectorInterface.encodeEventLog("Owed", [payer, 1n]);
  t.equal(readFeeEvent(owed), undefined);
  t.equal(readFeeEvent({ topics: [], data: "0x" }), undefined);
  const paid = feeCollectorInterface.getEvent("Paid")?.topicHash ?? "";
  t.equal(readFeeEvent({ topics: [paid], data: "0x" }), undefined);
  t.equal(readFeeEvent({ topics: [paid, paid, paid, paid], data: `0x${"ff".repeat(128)}` }), undefined);
});

function newOrder(changes: Partial<FeeOrder> = {}): FeeOrder {
  return {
    ref: orderRef(crypto.randomUUID()),
    source: "svc_dev",
    payee: new Wallet(`0x${randomBytes(32).toString("hex")}`).address,
    amount: 1000n,
    fee: 10n,
    validUntil: soon,
    ...changes,
  };
}

function signed(order: FeeOrder) {
  return { order, signature: signOrder({ order, ...place, signingKey }) };
}

async function ask(name: string, values: readonly unknown[]): Promise<unknown> {
  const data = feeCollectorInterface.encodeFunctionData(name, [...values]);
  const answer = z.string().parse(await chain.rpc("eth_call", [{ to: feeCollector, data }, "latest"]));
  return feeCollectorInterface.decodeFunctionResult(name, answer)[0];
}

async function balance(address: string): Promise<bigint> {
  return BigInt(z.string().parse(await chain.rpc("eth_getBalance", [address, "latest"])));
}

type Call = { to?: string; data: string; value?: bigint };

const receiptSchema = z.object({
  status: z.literal("0x1"),
  logs: z.array(z.object({ topics: z.array(z.string()), data: z.string() })),
});

/** What the mined transaction's logs say of payments. */
async function send({ to = feeCollector, data, value = 0n }: Call): Promise<FeeEvent[]> {
  const transaction = { from: payer, to, data, value: `0x${value.toString(16)}` };
  const hash = await chain.rpc("eth_sendTransaction", [transaction]);
  const receipt = await waitFor("the transaction is mined", () =>
    chain.rpc("eth_getTransactionReceipt", [hash]),
  );
  const { logs } = receiptSchema.parse(receipt);
  return logs.flatMap((log) => readFeeEvent(log) ?? []);
}

const refused = z.object({ error: z.object({ data: z.string() }) });

/** The data of the node's error, in words. */
async function refusalOf({ data, value = 0n }: Call): Promise<string | undefined> {
  const call = { from: payer, to: feeCollector, data, value: `0x${value.toString(16)}` };
  const body = { jsonrpc: "2.0", id: 1, method: "eth_call", params: [call, "latest"] };
  const response = await fetch(chain.url, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify(body),
  });
  return revertReason(refused.parse(await response.json()).error.data);
}
