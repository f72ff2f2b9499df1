import { createHash } from "node:crypto";
import type { Queryable } from "../../../lib/postgres/queryable.ts";
import { onlyRow, readHex, readInteger } from "../../../lib/postgres/row.ts";
import { byteaArray, numberArray } from "../../follower/sql-arrays.ts";
import type { EventType } from "../events/event-record.ts";
import { createUuid, publicId } from "../public-id.ts";
import { timeOf } from "../times.ts";

export type NewEvent = {
  /** 0x and 40 digits. */
  wallet: string;
  type: EventType;
  data: object;
  /** UUID; null for a test. */
  orderId: string | null;
  /** When what it tells of happened. */
  atMs: number;
};

export type WrittenEvent = { id: string; type: EventType; sequence: number; body: string };

/**
 * Writes events with the next numbers of their wallets, and for each wallet with a webhook that is enabled a delivery. Whoever
 * writes events of the same wallet waits until this transaction ends, so numbers have no gap and no reader sees them out of order.
 */
export async function insertEvents(db: Queryable, events: readonly NewEvent[]): Promise<WrittenEvent[]> {
  if (events.length === 0) return [];
  const byWallet = Map.groupBy(events, ({ wallet }) => wallet.toLowerCase());
  const last = new Map<string, number>();
  // Always in the same order, so that two that write for the same wallets wait for each other and not crosswise.
  for (const [wallet, own] of [...byWallet].toSorted(([one], [other]) => (one < other ? -1 : 1))) {
    const { rows } = await db.query({
      text: `insert into svc.event_sequences as s (wallet, last) values ($1, $2)
        on conflict (wallet) do update set last = s.last + excluded.last returning wallet, last`,
      values: [Buffer.from(wallet.slice(2), "hex"), own.length],
    });
    const row = onlyRow(rows);
    last.set(readHex(row, "wallet"), readInteger(row, "last") - own.length);
  }
  const written = events.map((event) => {
    const wallet = event.wallet.toLowerCase();
    const sequence = (last.get(wallet) ?? 0) + 1;
    last.set(wallet, sequence);
    const id = idOf(event);
    return { ...event, wallet, id, sequence, body: bodyOf(event, { id, sequence }) };
  });
  await db.query({
    text: `with written as (
        insert into svc.webhook_events (id, wallet, sequence, type, body, order_id)
        select * from unnest($1::uuid[], $2::bytea[], $3::bigint[], $4::text[], $5::text[], $6::uuid[])
        returning id, wallet, type, sequence)
      insert into svc.webhook_deliveries (event_id, endpoint_id, sequence)
      select w.id, e.id, w.sequence from written w join svc.webhook_endpoints e using (wallet)
      where e.disabled_at is null and w.type <> 'webhook.test'`,
    values: [
      written.map(({ id }) => id),
      byteaArray(written.map(({ wallet }) => wallet)),
      numberArray(written.map(({ sequence }) => sequence)),
      written.map(({ type }) => type),
      written.map(({ body }) => body),
      written.map(({ orderId }) => orderId),
    ],
  });
  return written;
}

/** The same for the same order and type: a ledger that begins anew from a backup tells of nothing under another id. */
function idOf({ orderId, type, atMs }: NewEvent): string {
  if (orderId === null) return createUuid({ nowMs: atMs });
  return createUuid({ nowMs: atMs, random: createHash("sha256").update(`${orderId} ${type}`).digest() });
}

function bodyOf({ type, data, atMs }: NewEvent, { id, sequence }: { id: string; sequence: number }): string {
  return JSON.stringify({
    type,
    id: publicId("evt", id),
    timestamp: timeOf(new Date(atMs)).text,
    sequence,
    data,
  });
}
