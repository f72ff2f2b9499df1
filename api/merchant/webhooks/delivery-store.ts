import type { PostgresPool } from "../../../lib/postgres/postgres-pool.ts";
import type { Queryable } from "../../../lib/postgres/queryable.ts";
import {
  type Row,
  readBoolean,
  readBytes,
  readInteger,
  readNullable,
  readText,
} from "../../../lib/postgres/row.ts";
import { transaction } from "../../../lib/postgres/transaction.ts";
import { secretColumns } from "./endpoint.ts";
import type { Judgement } from "./judge-attempt.ts";
import type { SentWebhook } from "./send-webhook.ts";

/** A delivery that this process may try until its lease ends. */
export type ClaimedDelivery = {
  eventId: string;
  endpointId: string;
  /** The try's number, by which it is known that nobody else has begun another meanwhile. */
  attempt: number;
  tries: number;
  type: string;
  body: string;
  url: string;
  currentSealed: Buffer;
  nextSealed: Buffer | null;
};

/** What a try is known by when it is written down. */
export type FinishedDelivery = Pick<ClaimedDelivery, "eventId" | "endpointId" | "attempt" | "url">;

export const claimedAtOnceMax = 32;
/** Over all processes. */
export const perEndpointMax = 4;
/** Twice what a try takes at most. */
export const leaseSeconds = 30;
/** Of a delivery, the last ones: a wallet may have its events sent again as often as it likes. */
export const attemptsKeptMax = 50;
const disabledAfterDays = 5;
const deadEventsMin = 2;

/** Claims are made one after the other, so that the bound of an endpoint holds over all processes. */
const claimLock = 8845_0020;

/**
 * Takes deliveries that are due, for the time of a lease: of each endpoint its oldest ones, the endpoints that have waited longest
 * first. It goes from endpoint to endpoint over the index (`first`, a loose index scan), so it costs the same however much waits for
 * one that hangs. One of a webhook that is disabled is dropped. Where a process dies with what it has claimed, the lease ends and the
 * next one that asks tries it again.
 */
export async function claimDeliveries(
  pool: Pick<PostgresPool, "connect">,
  {
    limit = claimedAtOnceMax,
    leaseForSeconds = leaseSeconds,
  }: { limit?: number; leaseForSeconds?: number } = {},
): Promise<{ claimed: ClaimedDelivery[]; hasMore: boolean }> {
  return transaction(pool, async (db) => {
    await db.query("select pg_advisory_xact_lock($1)", [claimLock]);
    const { rows } = await db.query({
      name: "claim-deliveries",
      text: `with recursive leased as (
          select endpoint_id, count(*) as count from svc.webhook_deliveries
          where leased_until is not null and leased_until > now() group by endpoint_id),
        first as (
          (select endpoint_id, next_at from svc.webhook_deliveries where state = 'waiting'
            order by endpoint_id, next_at limit 1)
          union all
          select other.* from first cross join lateral (
            select endpoint_id, next_at from svc.webhook_deliveries d
            where state = 'waiting' and d.endpoint_id > first.endpoint_id
            order by endpoint_id, next_at limit 1) other),
        free as (
          select endpoint_id, $2 - coalesce(count, 0) as places from first left join leased using (endpoint_id)
          where next_at <= now() and coalesce(count, 0) < $2 order by next_at limit $1),
        due as materialized (
          select oldest.* from free cross join lateral (
            select event_id, endpoint_id, next_at from svc.webhook_deliveries d
            where d.endpoint_id = free.endpoint_id and state = 'waiting' and next_at <= now()
            order by next_at limit free.places for update skip locked) oldest
          order by oldest.next_at limit $1),
        claimed as (
          update svc.webhook_deliveries d
          set attempts = case when e.disabled_at is null then d.attempts + 1 else d.attempts end,
            tries = case when e.disabled_at is null then d.tries + 1 else d.tries end,
            state = case when e.disabled_at is null then 'waiting' else 'dropped' end,
            next_at = now() + make_interval(secs => $3),
            leased_until = case when e.disabled_at is null then now() + make_interval(secs => $3) end
          from due join svc.webhook_endpoints e on e.id = due.endpoint_id
          where d.event_id = due.event_id and d.endpoint_id = due.endpoint_id
          returning d.event_id, d.endpoint_id, d.attempts, d.tries, d.state = 'waiting' as is_mine, e.url, ${secretColumns})
        select c.*, v.type, v.body from claimed c join svc.webhook_events v on v.id = c.event_id`,
      values: [limit, perEndpointMax, leaseForSeconds],
    });
    return {
      claimed: rows.filter((row) => readBoolean(row, "is_mine")).map(readClaimed),
      hasMore: rows.length > 0,
    };
  });
}

function readClaimed(row: Row): ClaimedDelivery {
  return {
    eventId: readText(row, "event_id"),
    endpointId: readText(row, "endpoint_id"),
    attempt: readInteger(row, "attempts"),
    tries: readInteger(row, "tries"),
    type: readText(row, "type"),
    body: readText(row, "body"),
    url: readText(row, "url"),
    currentSealed: readBytes(row, "current_sealed"),
    nextSealed: readNullable(readBytes, row, "next_sealed"),
  };
}

/**
 * Writes down what came of a try. Where the lease has ended and another try was begun, this one's outcome is not the delivery's
 * any more, and only that one's counts.
 */
export function finishDelivery(
  pool: Pick<PostgresPool, "connect">,
  {
    delivery,
    sent,
    judgement,
    isTest = false,
  }: {
    delivery: FinishedDelivery;
    sent: SentWebhook;
    judgement: Judgement;
    /** Says nothing of how the endpoint does. */
    isTest?: boolean;
  },
): Promise<boolean> {
  const { eventId, endpointId, attempt, url } = delivery;
  const againAfterMs = judgement.state === "waiting" ? judgement.againAfterMs : 0;
  return transaction(pool, async (db) => {
    const { rowCount } = await db.query({
      name: "finish-delivery",
      text: `update svc.webhook_deliveries
        set state = $4, next_at = now() + make_interval(secs => $5::double precision / 1000), leased_until = null,
          last_status = $6, last_error = $7, delivered_at = case when $4 = 'delivered' then now() end
        where event_id = $1 and endpoint_id = $2 and attempts = $3 and state = 'waiting'`,
      values: [eventId, endpointId, attempt, judgement.state, againAfterMs, sent.status, sent.error],
    });
    if (rowCount !== 1) return false;
    await db.query({
      name: "note-attempt",
      text: `with forgotten as (
          delete from svc.webhook_attempts where event_id = $1 and endpoint_id = $2 and number <= $3::int - ${attemptsKeptMax})
        insert into svc.webhook_attempts (event_id, endpoint_id, number, at, took_ms, status, error, answer_start, url, headers)
        values ($1, $2, $3, now() - make_interval(secs => $4::double precision / 1000), $4::int, $5, $6, $7, $8, $9)`,
      values: [
        ...[eventId, endpointId, attempt, sent.tookMs, sent.status, sent.error, sent.answerStart],
        ...[sent.request?.url ?? null, sent.request === null ? null : JSON.stringify(sent.request.headers)],
      ],
    });
    if (!isTest) await noteStanding(db, { endpointId, url }, judgement);
    return true;
  });
}

/**
 * What a try says of its endpoint: that it works, that it fails, or that it is to be left in peace. A failure at a URL that was
 * changed meanwhile says nothing of the new one.
 */
async function noteStanding(
  db: Queryable,
  { endpointId, url }: Pick<ClaimedDelivery, "endpointId" | "url">,
  judgement: Judgement,
): Promise<void> {
  if (judgement.state === "delivered") {
    await db.query({
      name: "endpoint-works",
      text: `update svc.webhook_endpoints set failing_since = null, dead_events = 0
        where id = $1 and (failing_since is not null or dead_events > 0)`,
      values: [endpointId],
    });
    return;
  }
  const isDead = judgement.state === "dead";
  await db.query({
    name: "endpoint-fails",
    text: `update svc.webhook_endpoints e
      set failing_since = coalesce(failing_since, now()), dead_events = dead_events + $2::int,
        disabled_at = case when reason.why is null then disabled_at else coalesce(disabled_at, now()) end,
        disabled_why = case when reason.why is null then disabled_why else coalesce(disabled_why, reason.why) end
      from (select case when $3 then 'gone'
          when failing_since <= now() - make_interval(days => $4) and dead_events + $2::int >= $5 then 'failing' end as why
        from svc.webhook_endpoints where id = $1 and url = $6 for no key update) reason
      where e.id = $1`,
    values: [endpointId, isDead ? 1 : 0, isDead && judgement.isGone, disabledAfterDays, deadEventsMin, url],
  });
}
