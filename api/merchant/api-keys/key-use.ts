import { LRUCache } from "lru-cache";
import type { Logger } from "pino";
import type { Queryable } from "../../../lib/postgres/queryable.ts";

export type KeyUse = {
  /** A key was used. Never waits, never throws. */
  saw(id: string): void;
};

const minuteMs = 60_000;
/** Of so many keys a process knows that it has noted the minute. */
const keysMax = 10_000;

/**
 * Notes when keys were used last, to the minute: at most one statement a key, minute and process. With the first use its sealed
 * secret is dropped: whoever uses a key has it.
 */
export function createKeyUse({
  db,
  logger,
  now,
}: {
  db: Pick<Queryable, "query">;
  logger: Pick<Logger, "warn">;
  now: () => number;
}): KeyUse {
  const notedMinute = new LRUCache<string, number>({ max: keysMax });

  return {
    saw(id) {
      const minute = Math.floor(now() / minuteMs);
      if (notedMinute.get(id) === minute) return;
      notedMinute.set(id, minute);
      db.query({
        name: "key-used",
        text: `update svc.api_keys
          set last_used_at = to_timestamp($2), secret_sealed = null, secret_sealed_until = null
          where id = $1 and (last_used_at is null or last_used_at < to_timestamp($2))`,
        values: [id, minute * (minuteMs / 1000)],
      }).catch((error: unknown) => {
        // It is noted by a later use.
        notedMinute.delete(id);
        logger.warn({ err: error, key: id }, "the use of a key could not be noted");
      });
    },
  };
}
