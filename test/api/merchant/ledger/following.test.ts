import t from "tap";
import type { LedgerPoint } from "../../../../api/merchant/ledger/ledger-point.ts";
import { waitFor } from "../../../helpers/wait-for.ts";
import { startLyingNode } from "../support/lying-node.ts";
import { startFeeChain, startMarket } from "../support/market.ts";

const chain = await startFeeChain(t);
const ether = 10n ** 18n;
const sum = "select count(*)::int as payments, coalesce(sum(amount), 0)::text as wei from svc.payments";
const cursorOf = "select next_block::int, boxes_block::int from svc.chain_cursor";

t.test("of several ledgers at the same time each payment is booked by one", async (t) => {
  const market = await startMarket(t, { chain });
  const others = [market.start(), market.start()];
  const validUntil = (await chain.time()) + 3600;
  const orders = [];
  for (let count = 0; count < 10; count += 1) {
    orders.push(await market.shop.keyOrder({ validUntil }));
    orders.push(await market.shop.invoice({ amount: 5n, expiresAt: validUntil }));
  }
  for (const order of orders) {
    if (order.order.payee === null) await market.shop.pay(order, { payer: 1 });
    else await market.shop.transfer(order, 5n);
  }
  for (const ledger of [market.ledger, ...others]) await market.settled(ledger);
  t.match(await market.rows(sum), [{ payments: 20, wei: String(1000n * ether + 50n) }]);
  t.match(await market.rows("select count(*)::int as open from svc.orders where paid_at is null"), [
    { open: 0 },
  ]);
  for (const ledger of [market.ledger, ...others]) t.equal(ledger.standing().behindBlocks, 0);
});

for (const point of ["read", "in transaction", "before commit", "booked"] as const) {
  t.test(`a round that ends at "${point}" books everything once when it is done again`, async (t) => {
    const market = await startMarket(t, { chain });
    await market.ledger.stop();
    const order = await market.shop.keyOrder({ validUntil: (await chain.time()) + 3600 });
    const invoice = await market.shop.invoice({ amount: 5n, expiresAt: (await chain.time()) + 3600 });
    await market.shop.pay(order);
    await market.shop.transfer(invoice, 5n);
    let failures = 0;
    const ledger = market.start({
      atPoint(reached: LedgerPoint) {
        if (reached !== point || failures === 3) return;
        failures += 1;
        throw new Error(`ended at ${point}`);
      },
    });
    await market.settled(ledger);
    if (point !== "booked") t.equal(failures, 3);
    t.match(await market.rows(sum), [{ payments: 2, wei: String(100n * ether + 5n) }]);
    t.match(await ledger.registry.metrics(), /^api_ledger_failures_total [1-9]/m);
  });
}

t.test(
  "what came while no ledger ran is booked by ranges, each box by its own block and in time",
  async (t) => {
    const market = await startMarket(t, { chain });
    const expiresAt = (await chain.time()) + 1000;
    const invoices = {
      early: await market.shop.invoice({ expiresAt }),
      late: await market.shop.invoice({ expiresAt }),
      both: await market.shop.invoice({ expiresAt }),
      emptied: await market.shop.invoice({ expiresAt }),
    };
    const key = await market.shop.keyOrder({ validUntil: expiresAt });
    await market.settled();
    await market.ledger.stop();

    await chain.mine(40);
    await market.shop.transfer(invoices.early, 10n * ether);
    const earlyBlock = await chain.number();
    await market.shop.transfer(invoices.both, 4n * ether);
    await market.shop.transfer(invoices.emptied, 6n * ether);
    await market.shop.collect(invoices.emptied);
    await market.shop.pay(key);
    await chain.mine(40);
    await chain.mineAt(expiresAt + 1);
    await chain.mine(40);
    await market.shop.transfer(invoices.late, 10n * ether);
    const lateBlock = await chain.number();
    await market.shop.transfer(invoices.both, 6n * ether);
    await market.shop.transfer(invoices.emptied, 4n * ether);
    await chain.mine(40);

    for (const rangeBlocksMax of [1000, 7]) {
      // The same again in small ranges, from where the first began.
      const again = await startMarket(t, { chain });
      await again.ledger.stop();
      await copyMarket({ from: market, to: again });
      const ledger = again.start({ rangeBlocksMax });
      await again.settled(ledger);
      const state = async ({ orderId }: { orderId: string }) =>
        (
          await again.rows(
            `select state, received::text, received_in_time::text from svc.invoices where order_id = $1`,
            [orderId],
          )
        )[0];
      const blocks = async ({ orderId }: { orderId: string }) =>
        again.rows(
          "select block_number::int as block, in_time, amount::text from svc.payments where order_id = $1 order by id",
          [orderId],
        );
      t.match(await state(invoices.early), { state: "paid" });
      t.match(await blocks(invoices.early), [{ block: earlyBlock, in_time: true }]);
      t.match(await state(invoices.late), { state: "paid_late", received_in_time: "0" });
      t.match(await blocks(invoices.late), [{ block: lateBlock, in_time: false }]);
      t.match(await state(invoices.both), { state: "paid_late", received_in_time: String(4n * ether) });
      t.match(await blocks(invoices.both), [
        { amount: String(4n * ether), in_time: true },
        { amount: String(6n * ether), in_time: false },
      ]);
      t.match(await state(invoices.emptied), { state: "paid_late", received: String(10n * ether) });
      t.match(await blocks(invoices.emptied), [
        { amount: String(6n * ether), in_time: true },
        { amount: String(4n * ether), in_time: false },
      ]);
      t.equal((await blocks(key)).length, 1);
    }
  },
);

t.test(
  "a node that has forgotten old states: events are booked, boxes when it knows them again",
  async (t) => {
    const market = await startMarket(t, { chain });
    const key = await market.shop.keyOrder({ validUntil: (await chain.time()) + 3600 });
    const invoice = await market.shop.invoice({ expiresAt: (await chain.time()) + 3600 });
    await market.settled();
    await market.ledger.stop();
    const [{ boxes_block: before = 0 } = {}] = await market.rows(cursorOf);
    await market.shop.transfer(invoice, 10n * ether);
    await market.shop.pay(key);
    await chain.mine(600);
    const node = await startLyingNode(t, { upstream: chain.url });
    const head = await chain.number();
    node.tell(({ method, params, result }) =>
      method === "eth_getBalance" && Number(params[1]) < head - 512 ? null : result,
    );
    const seen: unknown[] = [];
    const ledger = market.start({
      url: node.url,
      rangeBlocksMax: 50,
      async atPoint(point) {
        if (point === "booked" && seen.length < 1) seen.push(...(await market.rows(cursorOf)));
      },
    });
    await market.settled(ledger);
    t.match(seen, [{ boxes_block: before }], "boxes of the first ranges were not looked at");
    t.match(await market.rows(sum), [{ payments: 2, wei: String(110n * ether) }]);
    t.match(await market.rows("select state from svc.invoices"), [{ state: "paid" }]);
    await waitFor("boxes are looked at again", () => ledger.standing().boxesBehindBlocks === 0);
  },
);

/** Orders, invoices and the cursor of a market, before anything was booked. */
async function copyMarket({
  from,
  to,
}: {
  from: Awaited<ReturnType<typeof startMarket>>;
  to: Awaited<ReturnType<typeof startMarket>>;
}): Promise<void> {
  for (const table of ["wallets", "orders", "invoices"]) {
    const rows = await from.rows(`select to_jsonb(row) as row from svc.${table} as row`);
    const [{ names } = {}] = await from.rows(
      `select string_agg(column_name, ', ') as names from information_schema.columns
       where table_schema = 'svc' and table_name = '${table}' and is_generated = 'NEVER'`,
    );
    for (const { row } of rows) {
      await to.pool.query(
        `insert into svc.${table} (${names}) select ${names} from jsonb_populate_record(null::svc.${table}, $1)`,
        [JSON.stringify(row)],
      );
    }
  }
  const [cursor] = await from.rows("select to_jsonb(row) as row from svc.chain_cursor as row");
  await to.pool.query("delete from svc.chain_cursor");
  await to.pool.query(
    "insert into svc.chain_cursor select * from jsonb_populate_record(null::svc.chain_cursor, $1)",
    [JSON.stringify(cursor?.["row"])],
  );
}
