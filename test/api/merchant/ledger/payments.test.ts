import t from "tap";
import { readInteger, readText } from "../../../../lib/postgres/row.ts";
import { startFeeChain, startMarket } from "../support/market.ts";

const chain = await startFeeChain(t);
const market = await startMarket(t, { chain });
const { shop } = market;

const ether = 10n ** 18n;
const paymentsOf = (orderId: string) =>
  market.rows(
    `select way, amount::text, received_after::text, in_time, block_number::int, tx_hash is not null as has_tx,
       '0x' || encode(payer, 'hex') as payer from svc.payments where order_id = $1 order by payments.received_after`,
    [orderId],
  );
const orderOf = async (orderId: string) =>
  (
    await market.rows(
      `select extract(epoch from paid_at)::int as paid_at, paid_block::int, '0x' || encode(paid_tx, 'hex') as paid_tx,
         '0x' || encode(paid_by, 'hex') as paid_by from svc.orders where id = $1`,
      [orderId],
    )
  )[0];
const invoiceOf = async (orderId: string) =>
  (
    await market.rows(
      `select state, received::text, received_in_time::text, booked::text, extract(epoch from paid_at)::int as paid_at
         from svc.invoices where order_id = $1`,
      [orderId],
    )
  )[0];
const payer = "0x70997970c51812dc3a010c7d01b50e0d17dc79c8";

t.test("a key's order that is paid by the contract is booked once, with who, where and when", async (t) => {
  const order = await shop.keyOrder({ validUntil: (await chain.time()) + 1800 });
  const open = await shop.keyOrder({ validUntil: (await chain.time()) + 1800 });
  const paid_tx = await shop.pay(order);
  await chain.mine(3);
  await market.settled();
  const [payment, ...more] = await paymentsOf(order.orderId);
  t.match(payment, { way: "contract", amount: String(100n * ether), in_time: true, has_tx: true, payer });
  t.same(more, []);
  const paid_block = payment === undefined ? 0 : readInteger(payment, "block_number");
  t.match(await orderOf(order.orderId), { paid_block, paid_tx, paid_by: payer });
  t.match(await orderOf(open.orderId), { paid_block: null });
});

t.test("a second payment of an order, one of the wrong amount and one too late book nothing", async (t) => {
  const order = await shop.keyOrder({ validUntil: (await chain.time()) + 1800 });
  await shop.pay(order);
  t.notOk(await chain.succeeded(await shop.pay(order, { payer: 1 })), "the contract refuses a second");
  const late = await shop.keyOrder({ validUntil: (await chain.time()) - 1 });
  t.notOk(await chain.succeeded(await shop.pay(late)));
  const wrong = await shop.keyOrder({ validUntil: (await chain.time()) + 1800 });
  t.notOk(await chain.succeeded(await shop.pay(wrong, { value: wrong.order.amount - 1n })));
  await market.settled();
  t.equal((await paymentsOf(order.orderId)).length, 1);
  for (const { orderId } of [late, wrong]) {
    t.same(await paymentsOf(orderId), []);
    t.match(await orderOf(orderId), { paid_at: null });
  }
});

t.test("an invoice is paid by a plain transfer to its box, whose transaction is found", async (t) => {
  const invoice = await shop.invoice({ expiresAt: (await chain.time()) + 1800 });
  const paid_tx = await shop.transfer(invoice, 10n * ether);
  await market.settled();
  t.match(await paymentsOf(invoice.orderId), [
    { way: "box", amount: String(10n * ether), has_tx: true, payer },
  ]);
  t.match(await orderOf(invoice.orderId), { paid_tx, paid_by: null });
  t.match(await invoiceOf(invoice.orderId), { state: "paid", received: String(10n * ether), booked: "0" });
});

t.test(
  "a contract's transfer into a box, which leaves no log and no transaction to it, is booked",
  async (t) => {
    const invoice = await shop.invoice({ expiresAt: (await chain.time()) + 1800 });
    await shop.transferByContract(invoice, 10n * ether);
    await market.settled();
    t.match(await paymentsOf(invoice.orderId), [{ way: "box", amount: String(10n * ether), has_tx: false }]);
    t.match(await invoiceOf(invoice.orderId), { state: "paid" });
  },
);

t.test("parts, the rest and too much are told apart, and passing them on changes nothing", async (t) => {
  const invoice = await shop.invoice({ fee: ether, expiresAt: (await chain.time()) + 1800 });
  await shop.transfer(invoice, 4n * ether);
  await market.settled();
  t.match(await invoiceOf(invoice.orderId), {
    state: "underpaid",
    received: String(4n * ether),
    paid_at: null,
  });
  await shop.collect(invoice);
  await market.settled();
  t.match(await invoiceOf(invoice.orderId), { state: "underpaid", booked: String(4n * ether) });
  await shop.transfer(invoice, 6n * ether);
  await market.settled();
  const paid = await invoiceOf(invoice.orderId);
  t.match(paid, { state: "paid", received: String(10n * ether), booked: String(4n * ether) });
  await shop.transfer(invoice, 1n);
  await shop.collect(invoice);
  await market.settled();
  t.match(await invoiceOf(invoice.orderId), {
    ...{ state: "overpaid", received: String(10n * ether + 1n), booked: String(10n * ether + 1n) },
    paid_at: paid?.["paid_at"],
  });
  t.same(
    (await paymentsOf(invoice.orderId)).map((row) => readText(row, "amount")),
    [4n * ether, 6n * ether, 1n].map(String),
  );
});

t.test("a box that is filled, passed on and filled again within one block is counted whole", async (t) => {
  const invoice = await shop.invoice({ expiresAt: (await chain.time()) + 1800 });
  await chain.inOneBlock(async () => {
    await shop.transfer(invoice, 7n * ether);
    await shop.collect(invoice);
    await shop.transfer(invoice, 5n * ether);
  });
  await market.settled();
  t.match(await invoiceOf(invoice.orderId), {
    ...{ state: "overpaid", received: String(12n * ether), booked: String(7n * ether) },
  });
});

t.test("the block's time decides what is late, not the wall clock, which is years behind", async (t) => {
  const expiresAt = (await chain.time()) + 100;
  const [inTime, late, partly, never] = [
    await shop.invoice({ expiresAt }),
    await shop.invoice({ expiresAt }),
    await shop.invoice({ expiresAt }),
    await shop.invoice({ expiresAt }),
  ];
  await chain.mined();
  await chain.rpc("evm_setNextBlockTimestamp", [expiresAt]);
  await chain.inOneBlock(async () => {
    await shop.transfer(inTime, 10n * ether);
    await shop.transfer(partly, 9n * ether);
  });
  await market.settled();
  t.match(await invoiceOf(inTime.orderId), { state: "paid" });
  t.match(await invoiceOf(never.orderId), { state: "open" }, "it ends after that second");
  await chain.mineAt(expiresAt + 1);
  await shop.transfer(late, 10n * ether);
  await shop.transfer(partly, ether);
  await shop.transfer(inTime, 1n);
  await market.settled();
  t.match(await invoiceOf(late.orderId), { state: "paid_late", received_in_time: "0" });
  t.match(await invoiceOf(partly.orderId), { state: "paid_late", received_in_time: String(9n * ether) });
  t.match(await invoiceOf(inTime.orderId), { state: "overpaid", received_in_time: String(10n * ether) });
  t.match(await invoiceOf(never.orderId), { state: "expired" });
});

t.test("a box is looked at until its watch ends, and no longer", async (t) => {
  const expiresAt = (await chain.time()) + 100;
  const invoice = await shop.invoice({ expiresAt, watchUntil: expiresAt + 100 });
  await chain.rpc("evm_setNextBlockTimestamp", [expiresAt + 100]);
  await shop.transfer(invoice, 3n * ether);
  await market.settled();
  t.match(await invoiceOf(invoice.orderId), { state: "underpaid", received: String(3n * ether) });
  await chain.mineAt(expiresAt + 200);
  await market.settled();
  await shop.transfer(invoice, 7n * ether);
  await market.settled();
  t.match(await invoiceOf(invoice.orderId), { received: String(3n * ether) });
  await shop.collect(invoice);
  await market.settled();
  t.match(
    await invoiceOf(invoice.orderId),
    { state: "paid_late", received: String(10n * ether) },
    "what the FeeCollector passes on is booked whenever it does",
  );
});

t.test("a canceled invoice hides no money", async (t) => {
  const invoice = await shop.invoice({ expiresAt: (await chain.time()) + 1800 });
  await market.pool.query(
    "update svc.invoices set state = 'canceled', canceled_at = now() where order_id = $1",
    [invoice.orderId],
  );
  await shop.transfer(invoice, ether);
  await market.settled();
  t.match(await invoiceOf(invoice.orderId), { state: "underpaid" });
  await shop.transfer(invoice, 9n * ether);
  await market.settled();
  t.match(await invoiceOf(invoice.orderId), { state: "paid_late" });
});

t.test("a payment of another database's order is counted and told, and books nothing", async (t) => {
  const other = await startMarket(t, { chain });
  const order = await other.shop.keyOrder({ validUntil: (await chain.time()) + 1800 });
  await shop.pay(order);
  await market.settled();
  await other.settled();
  t.equal((await other.rows("select from svc.payments")).length, 1);
  t.match(await market.ledger.registry.metrics(), /api_ledger_refused_events_total\{reason="unknown"\} 1/);
  t.ok(market.ledger.logLines.some((line) => line.includes("of no order of this database")));
  t.same(await market.rows("select from svc.payments where order_id = $1", [order.orderId]), []);
});
