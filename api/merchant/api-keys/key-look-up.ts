import { z } from "zod";
import { type Refusal, refusal } from "../../../lib/http-service/refusal.ts";
import type { Queryable } from "../../../lib/postgres/queryable.ts";
import { restoredAtSql } from "../../../lib/postgres/restore-mark.ts";
import { readBoolean } from "../../../lib/postgres/row.ts";
import { soldKeyKey } from "../../../lib/redis/keys/svc-dev.ts";
import type { RedisClient } from "../../../lib/redis/redis-client.ts";
import { isRedisFailure } from "../../../lib/redis/redis-failure.ts";
import { keyScopes } from "../../rest/security.ts";
import { keyColumns, readSoldKey, type SoldKey } from "./api-key.ts";

/** What has to be known of a key to let a request in. */
export type KnownKey = z.output<typeof knownKey>;

const knownKey = z.strictObject({
  id: z.string(),
  wallet: z.string(),
  scopes: z.array(z.enum(keyScopes)),
  expiresAtMs: z.number(),
  isRevoked: z.boolean(),
});

export type KeyLookUp = ReturnType<typeof createKeyLookUp>;

const keptSeconds = 60;

/**
 * Keys by SHA-256 of their secret. PostgreSQL is the truth; Redis, which all replicas share, keeps what it said for a minute. No
 * process keeps anything by itself, so a key that was revoked is so everywhere at once.
 *
 * - A look-up writes only where Redis has nothing (NX), and a revocation overwrites: a look-up that read the key just before it was
 *   revoked cannot bring it back.
 * - Where the database was restored from a backup, keys of before wait for `npm run api -- confirm`.
 * - While Redis is away PostgreSQL is asked each time. While PostgreSQL is away Redis serves what it has, for the rest of its minute.
 */
export function createKeyLookUp({ redis, db }: { redis: RedisClient; db: Pick<Queryable, "query"> }) {
  const asking = new Map<string, Promise<KnownKey | Refusal | undefined>>();

  async function readShared(hash: string): Promise<KnownKey | undefined> {
    if (redis.status !== "ready") return undefined;
    try {
      const text = await redis.get(soldKeyKey(hash));
      // What another release wrote there is asked for again.
      return text === null ? undefined : knownKey.safeParse(JSON.parse(text)).data;
    } catch (error) {
      if (isRedisFailure(error) || error instanceof SyntaxError) return undefined;
      throw error;
    }
  }

  async function readTruth(hash: string): Promise<KnownKey | Refusal | undefined> {
    const { rows } = await db.query({
      name: "sold-key",
      text: `select ${keyColumns}, coalesce(created_at < ${restoredAtSql}, false) as held from svc.api_keys where hash = $1`,
      values: [Buffer.from(hash, "hex")],
    });
    const [row] = rows;
    if (row === undefined) return undefined;
    const key = knownOf(readSoldKey(row));
    if (readBoolean(row, "held") && !key.isRevoked) return notConfirmed;
    if (redis.status === "ready") {
      await redis.set(soldKeyKey(hash), JSON.stringify(key), "EX", keptSeconds, "NX").catch(unlessAway);
    }
    return key;
  }

  return {
    /** What Redis has of it; undefined where that is nothing, or Redis is away. */
    shared: readShared,

    /** What PostgreSQL has of it; a refusal while nobody has confirmed a restored database. Equal questions under way are asked once. Throws where it is away. */
    truth(hash: string): Promise<KnownKey | Refusal | undefined> {
      const running = asking.get(hash);
      if (running !== undefined) return running;
      const asked = readTruth(hash).finally(() => asking.delete(hash));
      asking.set(hash, asked);
      return asked;
    },

    /** Tells all replicas that a key is revoked; false where Redis could not be told. */
    async tellRevoked(key: SoldKey): Promise<boolean> {
      if (redis.status !== "ready") return false;
      try {
        await redis.set(soldKeyKey(key.hash), JSON.stringify(knownOf(key)), "EX", keptSeconds);
        return true;
      } catch (error) {
        unlessAway(error);
        return false;
      }
    },
  };
}

/** One that was revoked behind the restored time would be good again. */
const notConfirmed = refusal(
  "service_unavailable",
  "Keys of before a loss of data are being checked; yours is known, and nothing has to be done. Try again later",
  { retryAfterMs: 60_000 },
);

function unlessAway(error: unknown): void {
  if (!isRedisFailure(error)) throw error;
}

function knownOf({ id, wallet, scopes, expiresAt, revokedAt }: SoldKey): KnownKey {
  return { id, wallet, scopes, expiresAtMs: expiresAt.getTime(), isRevoked: revokedAt !== null };
}
