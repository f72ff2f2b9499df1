import { createHash } from "node:crypto";
import { isRefusal, type Refusal, refusal } from "../../../lib/http-service/refusal.ts";
import type { PostgresPool } from "../../../lib/postgres/postgres-pool.ts";
import type { Queryable } from "../../../lib/postgres/queryable.ts";
import { onlyRow, type Row, readBoolean, readBytes, readHex } from "../../../lib/postgres/row.ts";
import { transaction } from "../../../lib/postgres/transaction.ts";
import type { Sealer } from "../secrets/sealer.ts";
import type { SweepTask } from "../sweep.ts";

const keptHours = 24;
const rowsMax = 1000;

/** What a client asks for once, however often it sends it. */
export type OnceRequest = {
  /** UUID of the API key: two keys may use the same words. */
  keyId: string;
  /** The field Idempotency-Key. */
  idempotencyKey: string;
  /** What is asked, as it was read: the same number written otherwise is the same request. */
  asked: unknown;
};

/**
 * Carries `work` out once for an Idempotency-Key; the same again within 24 hours answers what it answered. One transaction has what is
 * made and the answer, under a lock that ends with it: a crash leaves neither, and nobody waits for a lease. What is refused
 * is not kept, so that it can be tried again.
 */
export async function onceByKey<Answer extends object>({
  pool,
  sealer,
  request: { keyId, idempotencyKey, asked },
  parse,
  work,
}: {
  pool: Pick<PostgresPool, "connect">;
  sealer: Sealer;
  request: OnceRequest;
  /** Reads what JSON made of an answer. */
  parse: (json: unknown) => Answer;
  work: (db: Queryable) => Promise<Answer | Refusal>;
}): Promise<Answer | Refusal> {
  const keyHash = sha256(idempotencyKey);
  const requestHash = sha256(JSON.stringify(asked));
  const about = `${keyId} ${keyHash.toString("hex")}`;
  return transaction(pool, async (db) => {
    const lock = await db.query({
      name: "lock-idempotency-key",
      text: "select pg_try_advisory_xact_lock($1) as taken",
      values: [String(sha256(about).readBigInt64BE())],
    });
    if (!readBoolean(onlyRow(lock.rows), "taken")) return inProgress;
    const { rows } = await db.query({
      name: "idempotency-key",
      text: `select request_hash, answer_sealed from svc.idempotency_keys
        where key_id = $1 and key_hash = $2 and created_at > now() - make_interval(hours => $3)`,
      values: [keyId, keyHash, keptHours],
    });
    const [kept] = rows;
    if (kept !== undefined) return answerAgain({ kept, requestHash, sealer, about, parse });
    const made = await work(db);
    if (isRefusal(made)) return made;
    await db.query({
      name: "keep-idempotency-key",
      text: `insert into svc.idempotency_keys (key_id, key_hash, request_hash, answer_sealed) values ($1, $2, $3, $4)
        on conflict (key_id, key_hash) do update set request_hash = excluded.request_hash,
          answer_sealed = excluded.answer_sealed, created_at = excluded.created_at`,
      values: [keyId, keyHash, requestHash, sealer.seal(JSON.stringify(made), about)],
    });
    return made;
  });
}

function answerAgain<Answer extends object>({
  kept,
  requestHash,
  sealer,
  about,
  parse,
}: {
  kept: Row;
  requestHash: Buffer;
  sealer: Sealer;
  about: string;
  parse: (json: unknown) => Answer;
}): Answer | Refusal {
  if (readHex(kept, "request_hash") !== `0x${requestHash.toString("hex")}`) return reused;
  const text = sealer.open(readBytes(kept, "answer_sealed"), about);
  return text === undefined ? unreadable : parse(JSON.parse(text));
}

/** Removes what is kept no longer. */
export function removeOldIdempotencyKeys(db: Pick<Queryable, "query">): SweepTask {
  return async () => {
    const { rowCount } = await db.query({
      name: "remove-idempotency-keys",
      text: `delete from svc.idempotency_keys where (key_id, key_hash) in (
        select key_id, key_hash from svc.idempotency_keys
        where created_at <= now() - make_interval(hours => $1)
        order by created_at limit $2 for update skip locked)`,
      values: [keptHours, rowsMax],
    });
    return { hasMore: rowCount === rowsMax };
  };
}

function sha256(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}

const inProgress = refusal(
  "idempotency_in_progress",
  "A request with this Idempotency-Key is being carried out: send the same again shortly, for its answer",
  { retryAfterMs: 1000 },
);
const reused = refusal(
  "idempotency_key_reused",
  "This Idempotency-Key came with another request in the last 24 hours: use a new one for each invoice",
);
const unreadable = refusal(
  "idempotency_key_reused",
  "The request of this Idempotency-Key was carried out, and its answer cannot be shown again: look in the list of invoices",
);
