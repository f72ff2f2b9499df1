import t from "tap";
import { z } from "zod";
import { removeOldEvents } from "../../../../api/merchant/webhooks/remove-old-events.ts";
import { waitFor } from "../../../helpers/wait-for.ts";
import { startFeeChain, startMarket } from "../support/market.ts";

const chain = await startFeeChain(t);
const market = await startMarket(t, { chain });
const { shop } = market;
const ether = 10n ** 18n;
const event = z.looseObject({ type: z.string(), sequence: z.number(), data: z.looseObject({}) });
const eventsOf = async (orderId: string) =>
  (
    await market.rows("select body from svc.webhook_events where order_id = $1 order by sequence", [orderId])
  ).map(({ body }) => event.parse(JSON.parse(String(body))));
const soon = async () => (await chain.time()) + 3600;

t.test("a paid key is told of once, by however many ledgers", async (t) => {
  const other = market.start();
  await other.begun();
  const validUntil = await soon();
  const orders = await Promise.all(Array.from({ length: 10 }, () => shop.keyOrder({ validUntil })));
  await chain.inOneBlock(async () => {
    for (const order of orders) await shop.pay(order);
  });
  await market.settled();
  await market.settled(other);
  for (const order of orders) {
    t.match(await eventsOf(order.orderId), [
      {
        type: "payment.completed",
        sequence: 1,
        data: { payment: { kind: "api_key", amount: "100", amountWei: `1${"0".repeat(20)}` } },
      },
    ]);
  }
  await other.stop();
});

t.test("an invoice is told of when it is complete, and only then", async (t) => {
  const invoice = await shop.invoice({ expiresAt: await soon() });
  await shop.transfer(invoice, 4n * ether);
  await market.settled();
  t.same(await eventsOf(invoice.orderId), [], "a part is no payment");
  await shop.transfer(invoice, 7n * ether);
  await market.settled();
  const events = await eventsOf(invoice.orderId);
  t.match(events, [
    { type: "payment.completed", sequence: 1, data: { payment: { kind: "invoice", invoiceId: /^inv_/ } } },
    {
      type: "invoice.paid",
      sequence: 2,
      data: {
        invoice: {
          state: "overpaid",
          late: false,
          receivedWei: `11${"0".repeat(18)}`,
          overpaidWei: `1${"0".repeat(18)}`,
          dueWei: "0",
        },
      },
    },
  ]);
  await shop.transfer(invoice, 1n * ether);
  await market.settled();
  t.same(await eventsOf(invoice.orderId), events, "what comes later is told of no more");
});

t.test("a late invoice says that it is late", async (t) => {
  const expiresAt = await soon();
  const invoice = await shop.invoice({ expiresAt });
  await chain.mineAt(expiresAt + 10);
  await shop.transfer(invoice, 10n * ether);
  await market.settled();
  t.match(await eventsOf(invoice.orderId), [
    {},
    { data: { invoice: { state: "paid_late", late: true, payUrl: /^http:\/\/127.0.0.1:4000\/pay\// } } },
  ]);
});

t.test(
  "a wallet's events are numbered without a gap, and the numbers go on after old ones are gone",
  async (t) => {
    const wallet = Buffer.from("77".repeat(20), "hex");
    const pay = async (count: number) => {
      const orders = [];
      for (let index = 0; index < count; index += 1)
        orders.push(await shop.keyOrder({ validUntil: await soon(), wallet }));
      for (const order of orders) await shop.pay(order);
      await market.settled();
    };
    const numbers = async () =>
      (
        await market.rows("select sequence from svc.webhook_events where wallet = $1 order by sequence", [
          wallet,
        ])
      ).map(({ sequence }) => Number(sequence));
    await pay(5);
    t.same(await numbers(), [1, 2, 3, 4, 5]);
    await market.rows(
      "update svc.webhook_events set created_at = now() - interval '31 days' where wallet = $1",
      [wallet],
    );
    const sweep = removeOldEvents(market.pool);
    await waitFor("the old ones are gone", async () => {
      await sweep();
      return (await numbers()).length === 0;
    });
    t.ok((await market.rows("select 1 from svc.webhook_events")).length > 0, "others stay");
    await pay(2);
    t.same(await numbers(), [6, 7]);
  },
);

t.test("where booking is broken off before its end nothing is told either", async (t) => {
  const breaking = { left: 0 };
  const other = await startMarket(t, {
    chain,
    atPoint(point) {
      if (point !== "before commit" || breaking.left === 0) return;
      breaking.left -= 1;
      throw new Error("not now");
    },
  });
  await other.settled();
  breaking.left = 3;
  const order = await other.shop.keyOrder({ validUntil: await soon() });
  await other.shop.pay(order);
  await other.settled();
  t.equal(breaking.left, 0);
  t.match(await other.rows("select sequence from svc.webhook_events where order_id = $1", [order.orderId]), [
    { sequence: "1" },
  ]);
});
