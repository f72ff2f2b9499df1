import type { z } from "zod";
import { type Refusal, refusal } from "../../../lib/http-service/refusal.ts";
import type { Queryable } from "../../../lib/postgres/queryable.ts";
import { onlyRow, readInteger, readNullable, readText, readTime } from "../../../lib/postgres/row.ts";
import { bytesOf } from "../../read/columns.ts";
import { timeOf } from "../times.ts";
import {
  type DeliveryRecord,
  deliveryColumns,
  type deliveryDetails,
  type deliveryStates,
  readAttempt,
  readDelivery,
} from "./delivery-record.ts";
import { attemptsKeptMax } from "./delivery-store.ts";
import type { Endpoint } from "./endpoint.ts";

export const replayedMax = 1000;

/** A wallet's deliveries, newest first; `before` is the sequence that the page before ended with. */
export async function listDeliveries(
  db: Pick<Queryable, "query">,
  {
    wallet,
    limit,
    before,
    state,
  }: {
    wallet: string;
    limit: number;
    before?: number | undefined;
    state?: (typeof deliveryStates)[number] | undefined;
  },
): Promise<{ data: DeliveryRecord[]; nextBefore: number | null }> {
  const { rows } = await db.query({
    text: state === undefined ? allText : ofStateText,
    values: [
      ...[bytesOf(wallet), before ?? Number.MAX_SAFE_INTEGER, limit + 1],
      ...(state === undefined ? [] : [state]),
    ],
  });
  const data = rows.slice(0, limit).map(readDelivery);
  return { data, nextBefore: rows.length > limit ? (data.at(-1)?.sequence ?? null) : null };
}

const allText = `select ${deliveryColumns} from svc.webhook_events v join svc.webhook_deliveries d on d.event_id = v.id
  where v.wallet = $1 and v.sequence < $2 order by v.sequence desc limit $3`;
/** By its own index: what was given up is rare, and looking for it would read the whole log. */
const ofStateText = `select ${deliveryColumns} from svc.webhook_deliveries d join svc.webhook_events v on v.id = d.event_id
  where d.endpoint_id = (select id from svc.webhook_endpoints where wallet = $1) and d.state = $4 and d.sequence < $2
  order by d.sequence desc limit $3`;

/** One of a wallet's deliveries with what was sent and answered. Another wallet's is none that there is. */
export async function findDelivery(
  db: Pick<Queryable, "query">,
  { wallet, eventId }: { wallet: string; eventId: string },
): Promise<z.output<typeof deliveryDetails> | Refusal> {
  const { rows } = await db.query({
    text: `select ${deliveryColumns}, v.body from svc.webhook_events v join svc.webhook_deliveries d on d.event_id = v.id
      where v.id = $1 and v.wallet = $2`,
    values: [eventId, bytesOf(wallet)],
  });
  const [row] = rows;
  if (row === undefined) return unknownEvent;
  const attempts = await db.query({
    text: `select number, at, took_ms, status, error, answer_start, url, headers from svc.webhook_attempts
      where event_id = $1 order by number desc limit $2`,
    values: [eventId, attemptsKeptMax],
  });
  return { ...readDelivery(row), body: readText(row, "body"), log: attempts.rows.map(readAttempt) };
}

/**
 * What begins a delivery anew, with the same id and body; one that is under way is left alone. Its row is not even touched: a worker
 * writes down many at once, and two that lock the same rows in different orders would wait for each other.
 */
const begin = `insert into svc.webhook_deliveries as d (event_id, endpoint_id, sequence) select id, $1, sequence from chosen
  where not exists (select from svc.webhook_deliveries u
    where u.event_id = chosen.id and u.endpoint_id = $1 and u.leased_until > now())
  on conflict (event_id, endpoint_id) do update set state = 'waiting', tries = 0, next_at = now()
  where d.leased_until is null or d.leased_until <= now()
  returning 1`;

/** Sends one event again. */
export async function replayEvent(
  db: Pick<Queryable, "query">,
  { endpoint, eventId }: { endpoint: Pick<Endpoint, "id" | "wallet">; eventId: string },
): Promise<Replayed | Refusal> {
  const { rows } = await db.query({
    text: `with chosen as (select id, sequence from svc.webhook_events where id = $2 and wallet = $3), begun as (${begin})
      select (select count(*) from chosen)::int as found, (select count(*) from begun)::int as replayed`,
    values: [endpoint.id, eventId, bytesOf(endpoint.wallet)],
  });
  const row = onlyRow(rows);
  if (readInteger(row, "found") === 0) return unknownEvent;
  return { replayed: readInteger(row, "replayed"), hasMore: false, lastAt: null, lastAtUnix: null };
}

export type Replayed = {
  replayed: number;
  hasMore: boolean;
  /** When the last one of them happened: from where to go on. */
  lastAt: string | null;
  lastAtUnix: number | null;
};

/** Sends all events since a time again, the oldest ones first, but tests. */
export async function replaySince(
  db: Pick<Queryable, "query">,
  { endpoint, since }: { endpoint: Pick<Endpoint, "id" | "wallet">; since: Date },
): Promise<Replayed> {
  const { rows } = await db.query({
    text: `with found as (
        select id, sequence, created_at from svc.webhook_events
        where wallet = $2 and created_at >= $3 and type <> 'webhook.test' order by created_at limit $4),
      chosen as (select * from found order by created_at limit $4 - 1), begun as (${begin})
      select (select count(*) from found)::int as found, (select count(*) from begun)::int as replayed,
        (select max(created_at) from chosen) as last_at`,
    values: [endpoint.id, bytesOf(endpoint.wallet), since, replayedMax + 1],
  });
  const row = onlyRow(rows);
  const lastAt = readNullable(readTime, row, "last_at");
  const last = lastAt === null ? null : timeOf(lastAt);
  return {
    replayed: readInteger(row, "replayed"),
    hasMore: readInteger(row, "found") > replayedMax,
    lastAt: last?.text ?? null,
    lastAtUnix: last?.unix ?? null,
  };
}

const unknownEvent = refusal("not_found", "The wallet has no such event; they are kept for 30 days");
