import type { PostgresPool } from "../../../lib/postgres/postgres-pool.ts";
import type { Queryable } from "../../../lib/postgres/queryable.ts";
import {
  readBigint,
  readBoolean,
  readHex,
  readInteger,
  readNullable,
  readText,
} from "../../../lib/postgres/row.ts";
import { transaction } from "../../../lib/postgres/transaction.ts";
import { byteaArray, numberArray } from "../../follower/sql-arrays.ts";
import { writePaymentEvents } from "../webhooks/payment-events.ts";
import { type BookedOrder, bookOrder, type OrderBooking, type Payment, type Sighting } from "./book-order.ts";
import type { PlacedFeeEvent } from "./fee-events.ts";
import { type LedgerCursor, moveLedgerCursor } from "./ledger-cursor.ts";
import type { LedgerPoint } from "./ledger-point.ts";

/** What was seen in a range, by the orders' ids on chain. */
export type LedgerRange = {
  from: LedgerCursor;
  to: LedgerCursor;
  sightings: ReadonlyMap<string, readonly Sighting[]>;
};

export type BookedRange = {
  payments: readonly Payment[];
  mismatches: OrderBooking["mismatches"];
  /** Events of orders that there are not, of another deployment's or an earlier epoch's. */
  unknown: readonly PlacedFeeEvent[];
};

/**
 * Books a range in one transaction that begins by moving the cursor from where it was read: of several processes that read
 * the same range one books it.
 *
 * @returns undefined where another process was first: then nothing was written.
 * @throws ChainEvidenceError where what was seen contradicts what is booked.
 */
export function bookRange({
  pool,
  range: { from, to, sightings },
  publicUrl,
  atPoint,
}: {
  pool: Pick<PostgresPool, "connect">;
  range: LedgerRange;
  /** Where customers reach this site, for the addresses that events tell of. */
  publicUrl: string;
  atPoint: (point: LedgerPoint) => void | Promise<void>;
}): Promise<BookedRange | undefined> {
  return transaction(pool, async (client) => {
    if (!(await moveLedgerCursor(client, { from, to }))) return undefined;
    await atPoint("in transaction");
    const orders = await lockOrders(client, [...sightings.keys()], from.epoch);
    const bookings = orders.map((order) =>
      bookOrder(order, sightings.get(order.id) ?? [], { newestBlockAt: to.lastBlockAt }),
    );
    const payments = bookings.flatMap((booking) => booking.payments);
    await insertPayments(client, payments);
    await writePaid(client, bookings);
    await writeInvoices(client, bookings);
    const completed = bookings.flatMap(({ completedBy }) => completedBy ?? []);
    await writePaymentEvents(client, { completed, publicUrl });
    await client.query(
      "update svc.invoices set state = 'expired' where state = 'open' and expires_at < to_timestamp($1)",
      [to.lastBlockAt],
    );
    await atPoint("before commit");
    const known = new Set(orders.map(({ id }) => id));
    return {
      payments,
      mismatches: bookings.flatMap((booking) => booking.mismatches),
      unknown: [...sightings].flatMap(([id, seen]) => (known.has(id) ? [] : eventsOf(seen))),
    };
  });
}

/** The orders of these ids, with their invoices, which nobody else changes until the transaction ends. */
async function lockOrders(client: Queryable, ids: readonly string[], epoch: number): Promise<BookedOrder[]> {
  if (ids.length === 0) return [];
  const { rows: orders } = await client.query(
    `select id, id_on_chain, source, payee, amount, fee, paid_at is not null as is_paid,
       extract(epoch from valid_until)::bigint as valid_until
     from svc.orders where id_on_chain = any($1::bytea[]) and epoch = $2 order by id for update`,
    [byteaArray(ids), epoch],
  );
  const { rows: invoices } = await client.query(
    `select order_id, received, received_in_time, booked, canceled_at is not null as is_canceled,
       extract(epoch from expires_at)::bigint as expires_at, extract(epoch from paid_at)::bigint as paid_at
     from svc.invoices where order_id = any($1::uuid[]) order by order_id for update`,
    [orders.map((row) => readText(row, "id"))],
  );
  const invoiceOf = new Map(invoices.map((row) => [readText(row, "order_id"), row]));
  return orders.map((row) => {
    const orderId = readText(row, "id");
    const invoice = invoiceOf.get(orderId);
    return {
      orderId,
      id: readHex(row, "id_on_chain"),
      source: readText(row, "source"),
      payee: readNullable(readHex, row, "payee"),
      amount: readBigint(row, "amount"),
      fee: readBigint(row, "fee"),
      validUntil: readInteger(row, "valid_until"),
      isPaid: readBoolean(row, "is_paid"),
      invoice:
        invoice === undefined
          ? undefined
          : {
              received: readBigint(invoice, "received"),
              receivedInTime: readBigint(invoice, "received_in_time"),
              booked: readBigint(invoice, "booked"),
              expiresAt: readInteger(invoice, "expires_at"),
              isCanceled: readBoolean(invoice, "is_canceled"),
              paidAt: readNullable(readInteger, invoice, "paid_at"),
            },
    };
  });
}

async function insertPayments(client: Queryable, payments: readonly Payment[]): Promise<void> {
  if (payments.length === 0) return;
  await client.query(
    `insert into svc.payments (order_id, way, amount, received_after, in_time, block_number, block_hash, block_at, tx_hash,
       log_index, payer)
     select order_id, way, amount, received_after, in_time, block_number, block_hash, to_timestamp(block_at), tx_hash,
       log_index, payer
     from unnest($1::uuid[], $2::text[], $3::numeric[], $4::numeric[], $5::bool[], $6::bigint[], $7::bytea[], $8::bigint[],
       $9::bytea[], $10::int[], $11::bytea[])
     as row (order_id, way, amount, received_after, in_time, block_number, block_hash, block_at, tx_hash, log_index, payer)`,
    [
      payments.map(({ orderId }) => orderId),
      payments.map(({ way }) => way),
      numberArray(payments.map(({ amount }) => amount)),
      numberArray(payments.map(({ receivedAfter }) => receivedAfter)),
      payments.map(({ inTime }) => inTime),
      numberArray(payments.map(({ block }) => block.number)),
      byteaArray(payments.map(({ block }) => block.hash)),
      numberArray(payments.map(({ block }) => block.timestamp)),
      byteaArray(payments.map(({ txHash }) => txHash)),
      numberArray(payments.map(({ logIndex }) => logIndex)),
      byteaArray(payments.map(({ payer }) => payer)),
    ],
  );
}

async function writePaid(client: Queryable, bookings: readonly OrderBooking[]): Promise<void> {
  const completed = bookings.flatMap(({ completedBy }) => completedBy ?? []);
  if (completed.length === 0) return;
  await client.query(
    `update svc.orders set paid_at = to_timestamp(block_at), paid_block = block_number, paid_tx = tx_hash, paid_by = payer
     from unnest($1::uuid[], $2::bigint[], $3::bigint[], $4::bytea[], $5::bytea[])
       as row (order_id, block_at, block_number, tx_hash, payer)
     where orders.id = order_id and paid_at is null`,
    [
      completed.map(({ orderId }) => orderId),
      numberArray(completed.map(({ block }) => block.timestamp)),
      numberArray(completed.map(({ block }) => block.number)),
      byteaArray(completed.map(({ txHash }) => txHash)),
      byteaArray(completed.map(({ way, payer }) => (way === "contract" ? payer : null))),
    ],
  );
}

async function writeInvoices(client: Queryable, bookings: readonly OrderBooking[]): Promise<void> {
  const invoices = bookings.flatMap(({ invoice }) => invoice ?? []);
  if (invoices.length === 0) return;
  await client.query(
    `update svc.invoices set received = row.received, received_in_time = row.received_in_time, booked = row.booked,
       state = row.state, paid_at = to_timestamp(row.paid_at)
     from unnest($1::uuid[], $2::numeric[], $3::numeric[], $4::numeric[], $5::text[], $6::bigint[])
       as row (order_id, received, received_in_time, booked, state, paid_at)
     where invoices.order_id = row.order_id`,
    [
      invoices.map(({ orderId }) => orderId),
      numberArray(invoices.map(({ received }) => received)),
      numberArray(invoices.map(({ receivedInTime }) => receivedInTime)),
      numberArray(invoices.map(({ booked }) => booked)),
      invoices.map(({ state }) => state),
      numberArray(invoices.map(({ paidAt }) => paidAt)),
    ],
  );
}

function eventsOf(sightings: readonly Sighting[]): PlacedFeeEvent[] {
  return sightings.flatMap((sighting) => ("event" in sighting ? [sighting.event] : []));
}
