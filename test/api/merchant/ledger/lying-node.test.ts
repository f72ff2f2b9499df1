import t from "tap";
import { z } from "zod";
import type { ShopOrder } from "../../../../scripts/soak/merchant-crashes/shop.ts";
import { waitFor } from "../../../helpers/wait-for.ts";
import { type Lie, startLyingNode } from "../support/lying-node.ts";
import { startFeeChain, startMarket } from "../support/market.ts";

const chain = await startFeeChain(t);
const node = await startLyingNode(t, { upstream: chain.url });
const market = await startMarket(t, { chain, url: node.url });
const ether = 10n ** 18n;
const word = `0x${"ab".repeat(32)}`;

const logs = z.array(z.looseObject({ data: z.string(), blockNumber: z.string() }));
const block = z.looseObject({ number: z.string() });
const failures = async () =>
  Number(/^api_ledger_failures_total (\d+)$/m.exec(await market.ledger.registry.metrics())?.[1]);
const booked = () =>
  market.rows(`select count(*)::int as payments, coalesce(sum(amount), 0)::text as wei,
    (select next_block::int from svc.chain_cursor) as next from svc.payments`);

/** Of `eth_getLogs`, by range or by hash; and of blocks by number. */
const ofLogs =
  (change: (told: z.output<typeof logs>) => unknown): Lie =>
  ({ method, result }) =>
    method === "eth_getLogs" ? change(logs.parse(result)) : result;
const ofBlocks =
  (change: (told: z.output<typeof block>) => unknown): Lie =>
  ({ method, params, result }) =>
    method === "eth_getBlockByNumber" && params[0] !== "latest" && params[0] !== "0x0" && result !== null
      ? change(block.parse(result))
      : result;

const lies: Record<string, Lie> = {
  "a log of a block of another chain": ofLogs((told) => told.map((log) => ({ ...log, blockHash: word }))),
  "a log of a block that was not asked for": ofLogs((told) =>
    told.map((log) => ({ ...log, blockNumber: "0x1" })),
  ),
  "a log of another contract": ofLogs((told) =>
    told.map((log) => ({ ...log, address: `0x${"ab".repeat(20)}` })),
  ),
  "a log twice": ofLogs((told) => [...told, ...told]),
  "logs that are none": ofLogs(() => "many"),
  "blocks that do not follow each other": ofBlocks((told) => ({ ...told, parentHash: word })),
  "another block": ofBlocks((told) => ({ ...told, number: "0x1" })),
  "no block": ofBlocks(() => null),
  "a balance that is gone": ({ method, result }) => (method === "eth_getBalance" ? "0x0" : result),
  "a balance that is no number": ({ method, result }) => (method === "eth_getBalance" ? "much" : result),
  "no state of the head": ({ method, result }) => (method === "eth_getBalance" ? null : result),
};

t.test("what contradicts itself or what is booked is not booked, and asked again", async (t) => {
  const invoice = await market.shop.invoice({
    amount: 1000n * ether,
    expiresAt: (await chain.time()) + 90_000,
  });
  await market.shop.transfer(invoice, ether);
  await market.settled();
  for (const [what, lie] of Object.entries(lies)) {
    const order = await market.shop.keyOrder({ validUntil: (await chain.time()) + 90_000 });
    await market.settled();
    const before = await booked();
    node.tell(lie);
    await chain.inOneBlock(() => market.shop.pay(order));
    const failed = await failures();
    await waitFor(`${what}: it is tried again`, async () => (await failures()) > failed + 1);
    t.strictSame(await booked(), before, what);
    node.tell(undefined);
    await market.settled();
    const paid = await market.rows("select from svc.orders where id = $1 and paid_at is not null", [
      order.orderId,
    ]);
    t.equal(paid.length, 1, `${what}: the truth is booked`);
  }
});

t.test(
  "a node that leaves logs out of a range, though the block's bloom has them, is asked by the block",
  async (t) => {
    const order = await market.shop.keyOrder({ validUntil: (await chain.time()) + 90_000 });
    await market.settled();
    node.tell(({ method, params, result }) =>
      method === "eth_getLogs" && JSON.stringify(params).includes("fromBlock") ? [] : result,
    );
    await market.shop.pay(order);
    await market.settled();
    node.tell(undefined);
    const paid = await market.rows("select from svc.orders where id = $1 and paid_at is not null", [
      order.orderId,
    ]);
    t.equal(paid.length, 1);
  },
);

t.test("an event that is not what its order says is told and never booked", async (t) => {
  const changes = {
    fee: (data: string) => replaceWord(data, 2, 1n),
    amount: (data: string) => replaceWord(data, 1, 1n),
    payee: (data: string) => replaceWord(data, 0, BigInt(`0x${"ab".repeat(20)}`)),
  };
  for (const [what, change] of Object.entries(changes)) {
    const order = await market.shop.keyOrder({ validUntil: (await chain.time()) + 90_000 });
    await market.settled();
    const before = await market.rows("select count(*) from svc.payments");
    node.tell(ofLogs((told) => told.map((log) => ({ ...log, data: change(log.data) }))));
    await market.shop.pay(order);
    await market.settled();
    node.tell(undefined);
    t.strictSame(await market.rows("select count(*) from svc.payments"), before, what);
    const paid = await market.rows("select from svc.orders where id = $1 and paid_at is not null", [
      order.orderId,
    ]);
    t.equal(paid.length, 0, what);
  }
  t.match(
    await market.ledger.registry.metrics(),
    /^api_ledger_refused_events_total\{reason="mismatch"\} 3$/m,
  );
  t.equal(market.ledger.logLines.filter((line) => line.includes("not what its order says")).length, 3);
});

t.test("no more boxes than allowed are looked at: those whose watch ends last", async (t) => {
  const few = await startMarket(t, { chain, boxesMax: () => 2 });
  const expiresAt = (await chain.time()) + 90_000;
  const invoices = [];
  for (const later of [2, 0, 1]) {
    invoices.push(await few.shop.invoice({ expiresAt, watchUntil: expiresAt + later }));
  }
  for (const invoice of invoices) await few.shop.transfer(invoice, 10n * ether);
  await few.settled();
  t.match(await few.rows("select state from svc.invoices order by watch_until"), [
    { state: "open" },
    { state: "paid" },
    { state: "paid" },
  ]);
  t.match(await few.ledger.registry.metrics(), /^api_ledger_boxes 2$/m);
});

t.test(
  "many boxes that get a little in one block cost one whole block, which is asked for once",
  async (t) => {
    const expiresAt = (await chain.time()) + 90_000;
    const invoices: ShopOrder[] = [];
    for (let count = 0; count < 5; count += 1) invoices.push(await market.shop.invoice({ expiresAt }));
    await market.settled();
    let wholeBlocks = 0;
    node.tell(({ method, params, result }) => {
      if (method === "eth_getBlockByNumber" && params[1] === true) wholeBlocks += 1;
      return result;
    });
    await chain.inOneBlock(async () => {
      for (const invoice of invoices) await market.shop.transfer(invoice, 1n);
    });
    await market.settled();
    node.tell(undefined);
    t.equal(wholeBlocks, 1);
    const ids = invoices.map(({ orderId }) => orderId);
    const sql = "select tx_hash is not null as has_tx from svc.payments where order_id = any($1)";
    t.strictSame(await market.rows(sql, [ids]), Array(5).fill({ has_tx: true }));
  },
);

/** The nth 32 bytes of the data: payee, amount, fee, burned. */
function replaceWord(data: string, index: number, value: bigint): string {
  const at = 2 + 64 * index;
  return `${data.slice(0, at)}${value.toString(16).padStart(64, "0")}${data.slice(at + 64)}`;
}
