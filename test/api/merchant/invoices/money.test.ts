import t from "tap";
import { z } from "zod";
import { findInvoiceOrder } from "../../../../api/merchant/invoices/collect-orders.ts";
import { type InvoiceRecord, invoiceRecord } from "../../../../api/merchant/invoices/invoice-record.ts";
import { idOf } from "../../../../api/merchant/public-id.ts";
import { payCall } from "../../../../lib/fee-collector/fee-calls.ts";
import { onlyRow, readBigint } from "../../../../lib/postgres/row.ts";
import { waitFor } from "../../../helpers/wait-for.ts";
import { bob } from "../../support/start-world.ts";
import { send } from "../support/sign-in.ts";
import { buyKey, newcomer, startShop } from "../support/start-shop.ts";

/* Invoices by their whole way: made by a program, paid on a real chain, booked by the ledger, passed on to the merchant. */

const shop = await startShop(t, {
  replicas: 2,
  change: (config) => ({ ...config, invoices: { ...config.invoices, feeBasisPoints: 100 } }),
});
const { api, db, anvil } = shop;
const path = "/api/v1/svc-dev/v1/invoices";
const token = 10n ** 18n;
const hex = (value: bigint) => `0x${value.toString(16)}`;
const uuidOf = (invoice: InvoiceRecord) => idOf("inv").parse(invoice.id);

const { wallet, headers } = await newcomer(api);
const { secret } = await buyKey(shop, headers);
const key = { "X-Svc-Dev-Key": secret };
const answer = z.object({ invoice: invoiceRecord });

/** Of ten tokens, for half an hour. */
const create = async () =>
  answer.parse((await send(api, path, { headers: key, body: { amountIdr: 150_000 } })).json).invoice;
const read = async ({ id }: InvoiceRecord) =>
  answer.parse((await api.get(`${path}/${id}`, key)).json).invoice;
const post = ({ id }: InvoiceRecord, what: string) => send(api, `${path}/${id}/${what}`, { headers: key });

const transact = (fields: object) =>
  anvil.rpc("eth_sendTransaction", [{ from: bob, gas: "0x7a120", ...fields }]);
const transfer = ({ depositAddress }: InvoiceRecord, value: bigint) =>
  transact({ to: depositAddress, value: hex(value) });
const order = async (invoice: InvoiceRecord) => {
  const found = await findInvoiceOrder(db, uuidOf(invoice));
  if (found === undefined) throw new Error("an invoice has an order");
  return found;
};
const pay = async (invoice: InvoiceRecord) => {
  const found = await order(invoice);
  return transact({ to: found.feeCollector, data: payCall(found), value: hex(found.order.amount) });
};
const balanceOf = async (address: string) =>
  BigInt(z.string().parse(await anvil.rpc("eth_getBalance", [address, "latest"])));

const inState = (invoice: InvoiceRecord, state: string) =>
  waitFor(`the invoice is ${state}`, async () => {
    const now = await read(invoice);
    return now.state === state && now;
  });
/** Resolves when nothing of what arrived is in the box any more, and the ledger knows it. */
const passedOn = (invoice: InvoiceRecord, received: bigint) =>
  waitFor("what arrived is passed on", async () => {
    const { rows } = await db.query("select booked from svc.invoices where id = $1", [uuidOf(invoice)]);
    return readBigint(onlyRow(rows), "booked") === received;
  });
/** What the merchant gets of it: 1 % is the platform's. */
const net = (amount: bigint) => amount - amount / 100n;

t.test("paid by the contract: paid, with who, when and by which transaction", async (t) => {
  const before = await balanceOf(wallet);
  const invoice = await create();
  const hash = await pay(invoice);
  const paid = await inState(invoice, "paid");
  t.match(paid, {
    ...{ late: false, receivedWei: String(10n * token), dueWei: "0", overpaidWei: "0" },
    payments: [{ way: "contract", amountWei: String(10n * token), txHash: hash, payer: bob }],
  });
  t.equal(paid.paidAtUnix, paid.payments[0]?.atUnix);
  t.equal((await balanceOf(wallet)) - before, net(10n * token));
  t.match((await post(invoice, "cancel")).json, { status: 400, detail: /this one is paid/ });
  t.match((await post(invoice, "collect")).json, { status: 400, detail: /Nothing lies/ });
});

t.test(
  "in parts by transfers: underpaid with what is due, then paid, and passed on by itself once",
  async (t) => {
    const before = await balanceOf(wallet);
    const invoice = await create();
    await transfer(invoice, 4n * token);
    const part = await inState(invoice, "underpaid");
    t.match(part, { late: false, receivedWei: String(4n * token), dueWei: String(6n * token), paidAt: null });
    t.match((await post(invoice, "cancel")).json, { status: 400, detail: /this one is underpaid/ });
    t.equal(await balanceOf(invoice.depositAddress), 4n * token, "a part waits for the rest");
    await transfer(invoice, 6n * token);
    const paid = await inState(invoice, "paid");
    t.equal(paid.payments.length, 2);
    t.match(paid.payments, [
      { way: "box", payer: bob },
      { way: "box", payer: bob },
    ]);
    await passedOn(invoice, 10n * token);
    t.equal((await balanceOf(wallet)) - before, net(10n * token));
  },
);

t.test("too much is overpaid, says how much, and is the merchant's as well", async (t) => {
  const before = await balanceOf(wallet);
  const invoice = await create();
  await transfer(invoice, 13n * token);
  t.match(await inState(invoice, "overpaid"), { overpaidWei: String(3n * token), dueWei: "0", late: false });
  await passedOn(invoice, 13n * token);
  t.equal((await balanceOf(wallet)) - before, net(10n * token) + 3n * token, "without a fee");
  await transfer(invoice, token);
  await waitFor("more is seen", async () => (await read(invoice)).overpaidWei === String(4n * token));
});

t.test("a part is passed on by hand, and the rest makes it whole", async (t) => {
  const before = await balanceOf(wallet);
  const invoice = await create();
  t.match((await post(invoice, "collect")).json, { status: 400, detail: /Nothing lies/ });
  await transfer(invoice, 5n * token);
  await inState(invoice, "underpaid");
  const collected = await post(invoice, "collect");
  t.equal(collected.status, 202, collected.text);
  t.match(collected.json, { collect: { txHash: /^0x[0-9a-f]{64}$/ } });
  await passedOn(invoice, 5n * token);
  t.equal((await balanceOf(wallet)) - before, net(5n * token));
  t.match(await read(invoice), { state: "underpaid", receivedWei: String(5n * token) });
  await transfer(invoice, 5n * token);
  await inState(invoice, "paid");
  await passedOn(invoice, 10n * token);
  t.equal((await balanceOf(wallet)) - before, net(10n * token));
});

t.test("what arrives after a cancellation shows all the same", async (t) => {
  const [part, whole] = [await create(), await create()];
  for (const invoice of [part, whole]) t.match(await post(invoice, "cancel"), { status: 200 });
  await transfer(part, token);
  await pay(whole);
  t.match(await inState(part, "underpaid"), { receivedWei: String(token), late: false });
  t.match(await inState(whole, "paid_late"), { receivedWei: String(10n * token), late: false });
});

/** Last: the chain's time goes on by more than a day. */
t.test(
  "late by the blocks' time: expired, then underpaid or paid late; the watch's end passes parts on",
  async (t) => {
    const [early, late, never] = [await create(), await create(), await create()];
    await transfer(early, 3n * token);
    await inState(early, "underpaid");
    await anvil.rpc("evm_increaseTime", [1801]);
    await anvil.rpc("evm_mine");
    t.match(await inState(never, "expired"), { receivedWei: "0", late: false });
    await inState(late, "expired");
    await transfer(late, 10n * token);
    t.match(await inState(late, "paid_late"), { late: true, dueWei: "0", payments: [{ way: "box" }] });
    await passedOn(late, 10n * token);
    await transfer(early, token);
    const part = await waitFor("a late part is seen", async () => {
      const now = await read(early);
      return now.late && now;
    });
    t.match(part, { state: "underpaid", receivedWei: String(4n * token), dueWei: String(6n * token) });

    t.equal(await balanceOf(early.depositAddress), 4n * token, "until then a part waits");
    await anvil.rpc("evm_increaseTime", [86_400]);
    await anvil.rpc("evm_mine", []);
    await anvil.rpc("evm_mine", []);
    await passedOn(early, 4n * token);
    t.equal(await balanceOf(early.depositAddress), 0n, "nothing stays in a box that nobody watches");
    const fresh = await create();
    await transfer(fresh, 10n * token);
    await inState(fresh, "paid");
  },
);
