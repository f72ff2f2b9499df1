import type { PostgresPool } from "../../../lib/postgres/postgres-pool.ts";
import type { Queryable } from "../../../lib/postgres/queryable.ts";
import { readText } from "../../../lib/postgres/row.ts";
import { numberArray } from "../../follower/sql-arrays.ts";
import { attemptsKeptMax, type FinishedDelivery, finishDelivery } from "./delivery-store.ts";
import type { SentWebhook } from "./send-webhook.ts";

export type Delivered = {
  delivery: FinishedDelivery;
  sent: SentWebhook;
};

/** As many as a worker has under way. */
const togetherMax = 64;

type Waiting = Delivered & { resolve: (isMine: boolean) => void; reject: (error: unknown) => void };

/**
 * Writes down what was delivered, by one statement for all that arrived while the one before was under way: nobody waits for
 * company. What failed is written down by itself (`finishDelivery`), since it also says how its endpoint does.
 */
export function createDeliveredWriter({ pool }: { pool: PostgresPool }) {
  const waiting: Waiting[] = [];
  let isWriting = false;

  async function write(): Promise<void> {
    if (isWriting) return;
    isWriting = true;
    try {
      while (waiting.length > 0) await writeTogether(waiting.splice(0, togetherMax));
    } finally {
      isWriting = false;
    }
  }

  async function writeTogether(batch: readonly Waiting[]): Promise<void> {
    try {
      const mine = await finishDelivered(pool, batch);
      for (const { delivery, resolve } of batch) resolve(mine.has(delivery.eventId));
    } catch {
      // One that PostgreSQL does not take must not keep the others, which are strangers to it, from being written down.
      await Promise.all(batch.map(writeAlone));
    }
  }

  async function writeAlone({ delivery, sent, resolve, reject }: Waiting): Promise<void> {
    try {
      resolve(await finishDelivery(pool, { delivery, sent, judgement: { state: "delivered" } }));
    } catch (error) {
      reject(error);
    }
  }

  return {
    /** Whether the try was still this process's. @throws where it could not be written down. */
    finish(delivered: Delivered): Promise<boolean> {
      return new Promise((resolve, reject) => {
        waiting.push({ ...delivered, resolve, reject });
        void write();
      });
    },
  };
}

/**
 * One statement, which is a transaction of its own. Where a lease has ended and another try was begun, this one's outcome is not the
 * delivery's any more.
 *
 * @returns the events whose tries were still this process's.
 */
async function finishDelivered(
  pool: Pick<Queryable, "query">,
  batch: readonly Delivered[],
): Promise<ReadonlySet<string>> {
  const { rows } = await pool.query({
    name: "finish-delivered",
    text: `with given as (
        select * from unnest($1::uuid[], $2::uuid[], $3::int[], $4::int[], $5::int[], $6::text[], $7::text[], $8::text[])
          as given (event_id, endpoint_id, attempts, status, took_ms, answer_start, url, headers)),
      done as (
        update svc.webhook_deliveries d
        set state = 'delivered', next_at = now(), leased_until = null, last_status = given.status, last_error = null,
          delivered_at = now()
        from given
        where d.event_id = given.event_id and d.endpoint_id = given.endpoint_id and d.attempts = given.attempts
          and d.state = 'waiting'
        returning d.event_id, d.endpoint_id, d.attempts, given.status, given.took_ms, given.answer_start,
          given.url, given.headers),
      noted as (
        insert into svc.webhook_attempts (event_id, endpoint_id, number, at, took_ms, status, answer_start, url, headers)
        select event_id, endpoint_id, attempts, now() - make_interval(secs => took_ms::double precision / 1000), took_ms,
          status, answer_start, url, headers::json
        from done),
      forgotten as (
        delete from svc.webhook_attempts a using done
        where a.event_id = done.event_id and a.endpoint_id = done.endpoint_id
          and a.number <= done.attempts - ${attemptsKeptMax}),
      failing as (
        select id from svc.webhook_endpoints
        where id in (select endpoint_id from done) and (failing_since is not null or dead_events > 0)
        order by id for no key update),
      works as (
        update svc.webhook_endpoints set failing_since = null, dead_events = 0 where id in (select id from failing))
      select event_id from done`,
    values: [
      batch.map(({ delivery }) => delivery.eventId),
      batch.map(({ delivery }) => delivery.endpointId),
      numberArray(batch.map(({ delivery }) => delivery.attempt)),
      numberArray(batch.map(({ sent }) => sent.status)),
      numberArray(batch.map(({ sent }) => sent.tookMs)),
      batch.map(({ sent }) => sent.answerStart),
      batch.map(({ sent }) => sent.request?.url ?? null),
      batch.map(({ sent }) => (sent.request === null ? null : JSON.stringify(sent.request.headers))),
    ],
  });
  return new Set(rows.map((row) => readText(row, "event_id")));
}
