import {
  keyChangesChannel,
  keyHistoryKey,
  keyIdsKey,
  keyRecordKey,
  keyTeamsKey,
  keyVersionKey,
} from "../redis/keys/api-keys.ts";
import type { RedisClient } from "../redis/redis-client.ts";
import { runScript } from "../redis/run-script.ts";
import { createApiKey, createKeyId, hashApiKey, type Profile } from "./api-key.ts";
import { createKeyReader, reading } from "./key-reader.ts";
import {
  type KeyRecord,
  type KeySettings,
  keyRecordToFields,
  keySettingsSchema,
  timeMsSchema,
} from "./key-record.ts";
import { createKeyRestore } from "./key-restore.ts";
import { createScript, revokeScript } from "./key-scripts.ts";
import { createKeyRotation, oneOf, type RunKeyScript, refused } from "./rotate-key.ts";
import { type SeedKey, type SeedResult, seedKeys } from "./seed-keys.ts";
import { createTeamStore } from "./team-store.ts";
import { type KeyChangeHandlers, type KeyWatch, watchKeys } from "./watch-keys.ts";

/** Records that may exist at once, revoked and expired ones included. */
export const keysMax = 100_000;
export type CreateResult =
  | { outcome: "created"; secret: string; key: KeyRecord }
  | { outcome: "unknownTeam" | "tooMany" | "duplicateHash" | "duplicateId" };

/**
 * API keys and teams in Redis. Secrets are never stored, only their SHA-256.
 *
 * Time is Redis's own, so that processes whose clocks differ agree on what has expired; a test injects `now`
 * (Unix milliseconds). Expected outcomes are values; a Redis that does not answer rejects with ioredis's error, a
 * record that cannot be read with a CorruptKeyRecordError.
 */
export function createKeyStore({
  redis,
  now,
  randomBytes,
}: {
  redis: RedisClient;
  now?: () => number;
  randomBytes?: (size: number) => Uint8Array;
}) {
  const random = randomBytes === undefined ? {} : { randomBytes };
  const run: RunKeyScript = (script, keys, args) => runScript({ redis, script, keys, args });

  const reader = createKeyReader({ redis, now });
  const store = {
    ...reader,
    ...createTeamStore({ redis }),
    ...createKeyRestore({ redis, keysMax }),

    /** Throws a ZodError for settings that no key can have. The secret is in the answer and nowhere else. */
    async create(wanted: KeySettings & { profile: Profile; expiresAtMs?: number }): Promise<CreateResult> {
      const { profile, expiresAtMs, ...rest } = wanted;
      const settings = keySettingsSchema.parse(rest);
      const secret = createApiKey({ profile, ...random });
      const record: KeyRecord = {
        ...settings,
        id: createKeyId(random),
        hash: hashApiKey(secret),
        profile,
        createdAtMs: await store.nowMs(),
        ...(expiresAtMs === undefined ? {} : { expiresAtMs: timeMsSchema.parse(expiresAtMs) }),
      };
      const outcome = await run(
        createScript,
        [keyRecordKey(record.hash), keyIdsKey, keyTeamsKey, keyVersionKey, keyHistoryKey],
        [keyChangesChannel, record.hash, record.id, record.team, keysMax, ...flat(keyRecordToFields(record))],
      );
      return outcome === "created" ? { outcome, secret, key: record } : refused(outcome, createRefusals);
    },

    rotate: createKeyRotation({ run, reader, keysMax, random }),

    /** Revokes for good. A second time changes nothing. */
    async revoke(id: string): Promise<"revoked" | "alreadyRevoked" | "unknown"> {
      // Not through show(): a record that cannot be read any more must still be revocable.
      const hash = await redis.hget(keyIdsKey, id);
      if (hash === null) return "unknown";
      const outcome: unknown = await reading(hash, async () =>
        run(
          revokeScript,
          [keyRecordKey(hash), keyVersionKey, keyHistoryKey],
          [keyChangesChannel, hash, await store.nowMs()],
        ),
      );
      return oneOf(outcome, revocations);
    },

    /**
     * Brings the keys of a development configuration into Redis, and takes out those that an earlier one had and
     * this one does not. Asked again with the same keys it changes nothing. Production has none: see `seedKeys`.
     */
    async seed({ keys, profile }: { keys: readonly SeedKey[]; profile: Profile }): Promise<SeedResult> {
      const before = (await store.list()).keys.filter(({ seededFor }) => seededFor !== undefined);
      return seedKeys({ redis, keys, profile, before, nowMs: await store.nowMs(), keysMax, ...random });
    },

    /** Reports changes to keys and teams as they happen: see `watchKeys`. */
    watch(handlers: KeyChangeHandlers & { checkIntervalMs?: number; commandTimeoutMs?: number }): KeyWatch {
      return watchKeys({ redis, ...handlers });
    },
  };

  return store;
}

export type KeyStore = ReturnType<typeof createKeyStore>;

const createRefusals = ["unknownTeam", "tooMany", "duplicateHash", "duplicateId"] as const;

const revocations = ["revoked", "alreadyRevoked", "unknown"] as const;

function flat(fields: Record<string, string>): string[] {
  return Object.entries(fields).flat();
}
