import fc from "fast-check";
import { pino } from "pino";
import t from "tap";
import { cancelInvoice } from "../../../../api/merchant/invoices/invoice-store.ts";
import type { Sighting } from "../../../../api/merchant/ledger/book-order.ts";
import { bookRange } from "../../../../api/merchant/ledger/book-range.ts";
import { readLedgerCursor } from "../../../../api/merchant/ledger/ledger-cursor.ts";
import { createPostgresPool } from "../../../../lib/postgres/postgres-pool.ts";
import { onlyRow, readBigint, readInteger, readText } from "../../../../lib/postgres/row.ts";
import { insertRow } from "../../../../scripts/soak/merchant-crashes/insert-row.ts";
import { createDatabase } from "../../../helpers/postgres.ts";
import "../../../helpers/property-seed.ts";
import { beginEpoch, insertWallet, invoiceRow, orderRow } from "../support/rows.ts";

/*
 * Through the statements that book: whatever arrives when, however blocks are cut into ranges and whenever it is canceled, an invoice comes to
 * what the arrivals make of it by the interface's words, and is told of once.
 */

const pool = createPostgresPool({
  url: await createDatabase(t),
  name: "test",
  logger: pino({ level: "silent" }),
});
t.teardown(() => pool.end());
await beginEpoch(pool);

const amount = 100n;
const blocks = 40;
/** Blocks come one a second, and the invoice ends with the time of this one. */
const endsWith = 20;
const runs = 40;

/** Often in the block that ends it, and in those around it. */
const blockNumber = fc.oneof(
  fc.integer({ min: 1, max: blocks }),
  fc.integer({ min: endsWith - 1, max: endsWith + 1 }),
);
const wei = fc.oneof(fc.bigInt(1n, 150n), fc.constantFrom(amount / 2n, amount - 1n, amount, amount + 1n));
const arrivals = fc.uniqueArray(fc.record({ block: blockNumber, wei, passedOn: fc.boolean() }), {
  maxLength: 5,
  selector: ({ block }) => block,
});
const cuts = fc.uniqueArray(fc.integer({ min: 1, max: blocks - 1 }), { maxLength: 6 });
const cancelsBefore = fc.option(fc.integer({ min: 1, max: blocks }), { nil: undefined });

type Arrival = { block: number; wei: bigint; passedOn: boolean };

/** By the words of the interface, not by the code's. */
function reckon(given: readonly Arrival[], isCanceled: boolean) {
  const sum = (some: readonly Arrival[]) => some.reduce((total, { wei }) => total + wei, 0n);
  const received = sum(given);
  const inTime = sum(given.filter(({ block }) => block <= endsWith));
  let soFar = 0n;
  let paidAt: number | undefined;
  for (const { block, wei } of given.toSorted((one, other) => one.block - other.block)) {
    soFar += wei;
    if (soFar >= amount) paidAt ??= block;
  }
  const whenComplete = isCanceled || inTime < amount ? "paid_late" : received > amount ? "overpaid" : "paid";
  const whenEmpty = isCanceled ? "canceled" : "expired";
  const state = received >= amount ? whenComplete : received > 0n ? "underpaid" : whenEmpty;
  return { received, inTime, paidAt, state, events: received >= amount ? 2 : 0 };
}

async function book(given: readonly Arrival[], ends: readonly number[], cancelBefore: number | undefined) {
  const begin = await readLedgerCursor(pool);
  if (begin === undefined) throw new Error("the ledger has begun");
  const [first, startsAt] = [begin.nextBlock - 1, begin.lastBlockAt];
  const wallet = await insertWallet(pool);
  const endsAt = new Date((startsAt + endsWith) * 1000);
  const payee = Buffer.from(wallet);
  const order = orderRow(wallet, {
    kind: "invoice",
    source: "payments",
    payee,
    amount,
    fee: 0n,
    valid_until: endsAt,
  });
  await insertRow(pool, "orders", order);
  const invoice = invoiceRow(wallet, order.id, {
    amount,
    expires_at: endsAt,
    watch_until: new Date(endsAt.getTime() + 1e6),
  });
  await insertRow(pool, "invoices", invoice);
  const id = `0x${Buffer.from(order.id_on_chain).toString("hex")}`;
  const blockOf = (number: number) => ({
    ...{ number: first + number, timestamp: startsAt + number, extraData: "0x", parentHash: "0x" },
    hash: `0x${number.toString(16).padStart(64, "0")}`,
  });
  const seen = (from: number, to: number): Sighting[] => {
    let received = 0n;
    const all = given
      .toSorted((one, other) => one.block - other.block)
      .map((arrival): Sighting & { at: number } => {
        received += arrival.wei;
        const block = blockOf(arrival.block);
        const shares = { id, source: "payments", payee: `0x${payee.toString("hex")}`, fee: 0n, burned: 0n };
        return arrival.passedOn
          ? {
              at: arrival.block,
              event: {
                ...{ kind: "collected" as const, ...shares, amount: arrival.wei, received, block },
                ...{ txHash: `0x${"ab".repeat(32)}`, logIndex: arrival.block },
              },
            }
          : { at: arrival.block, block, receivedAfter: received, txHash: null, payer: null };
      });
    // In no order, and each twice.
    return [...all, ...all].filter(({ at }) => at > from && at <= to).toReversed();
  };
  let isCanceled = false;
  let at = 0;
  for (const end of [...ends.toSorted((one, other) => one - other), blocks]) {
    if (cancelBefore !== undefined && cancelBefore > at && cancelBefore <= end) {
      isCanceled = await cancelInvoice(pool, invoice.id);
    }
    const from = await readLedgerCursor(pool);
    if (from === undefined) throw new Error("the ledger has begun");
    const to = { ...from, nextBlock: first + end + 1, lastBlockAt: startsAt + end };
    const sightings = new Map([[id, seen(at, end)]]);
    await bookRange({
      pool,
      range: { from, to, sightings },
      publicUrl: "http://127.0.0.1",
      atPoint: () => {},
    });
    at = end;
  }
  const { rows } = await pool.query(
    `select i.state, i.received, i.received_in_time, extract(epoch from i.paid_at)::bigint as paid_at,
       (select count(*) from svc.webhook_events e where e.order_id = i.order_id)::int as events,
       (select count(distinct sequence) from svc.webhook_events e where e.order_id = i.order_id and sequence <= 2)::int as numbers,
       (select coalesce(sum(amount), 0)::numeric from svc.payments p where p.order_id = i.order_id) as payments
     from svc.invoices i where id = $1`,
    [invoice.id],
  );
  const row = onlyRow(rows);
  const paidAt = row["paid_at"] === null ? undefined : readInteger(row, "paid_at") - startsAt;
  return {
    isCanceled,
    found: {
      ...{ received: readBigint(row, "received"), inTime: readBigint(row, "received_in_time") },
      ...{ paidAt, state: readText(row, "state"), events: readInteger(row, "events") },
    },
    isWhole:
      readBigint(row, "payments") === readBigint(row, "received") &&
      readInteger(row, "numbers") === readInteger(row, "events"),
  };
}

t.test("over all orders of arrival, the rows are what arrived, and when", async (t) => {
  const states = new Set<string>();
  await fc.assert(
    fc.asyncProperty(arrivals, cuts, cancelsBefore, async (given, ends, cancelBefore) => {
      const { found, isCanceled, isWhole } = await book(given, ends, cancelBefore);
      states.add(found.state);
      t.same(found, reckon(given, isCanceled));
      return isWhole && t.passing();
    }),
    { numRuns: runs },
  );
  t.ok(states.size >= 4, `among them ${[...states].join(", ")}`);
});

t.test("a block of the invoice's last second is in time, and the next one is late", async (t) => {
  for (const [block, state] of [
    [endsWith, "paid"],
    [endsWith + 1, "paid_late"],
  ] as const) {
    const { found } = await book([{ block, wei: amount, passedOn: false }], [], undefined);
    t.match(found, { state, paidAt: block });
  }
});
