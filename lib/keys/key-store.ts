import type { Redis } from "ioredis";
import {
  keyChangesChannel,
  keyHistoryKey,
  keyIdsKey,
  keyRecordKey,
  keyTeamsKey,
  keyVersionKey,
} from "../redis/keys/api-keys.ts";
import { runScript, type Script } from "../redis/run-script.ts";
import { createApiKey, createKeyId, hashApiKey, type Profile } from "./api-key.ts";
import { createKeyReader, reading } from "./key-reader.ts";
import {
  type KeyRecord,
  type KeySettings,
  keyRecordToFields,
  keySettingsSchema,
  parseKeyRecord,
  timeMsSchema,
} from "./key-record.ts";
import { createKeyRestore } from "./key-restore.ts";
import { createScript, revokeScript, rotateScript } from "./key-scripts.ts";
import { type SeedKey, type SeedResult, seedKeys } from "./seed-keys.ts";
import { createTeamStore } from "./team-store.ts";
import { type KeyChangeHandlers, type KeyWatch, watchKeys } from "./watch-keys.ts";

/** Records that may exist at once, revoked and expired ones included. */
export const keysMax = 100_000;
export type CreateResult =
  | { outcome: "created"; secret: string; key: KeyRecord }
  | { outcome: "unknownTeam" | "tooMany" | "duplicateHash" | "duplicateId" };

export type RotateResult =
  | { outcome: "rotated"; secret: string; key: KeyRecord; previous: KeyRecord }
  | { outcome: "alreadyRotated"; rotatedTo: string }
  | { outcome: "unknown" | "revoked" | "expired" | "tooMany" | "duplicateHash" | "duplicateId" };

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
  redis: Redis;
  now?: () => number;
  randomBytes?: (size: number) => Uint8Array;
}) {
  const random = randomBytes === undefined ? {} : { randomBytes };
  const run = (script: Script, keys: string[], args: (string | number)[]) =>
    runScript({ redis, script, keys, args });

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

    /**
     * Makes a key with a new secret and the settings of the old one, which ends after `overlapMs` if it would not
     * end earlier by itself. The new key keeps the old one's expiry unless it is given its own. Only a key that is
     * good can be rotated, and only once: the next rotation is the new key's.
     */
    async rotate({
      id,
      overlapMs,
      expiresAtMs,
    }: {
      id: string;
      overlapMs: number;
      expiresAtMs?: number;
    }): Promise<RotateResult> {
      const old = await store.show(id);
      if (old === undefined) return { outcome: "unknown" };
      const secret = createApiKey({ profile: old.profile, ...random });
      const newHash = hashApiKey(secret);
      const nowMs = await store.nowMs();
      const endMs = timeMsSchema.parse(nowMs + overlapMs);
      const expiry = expiresAtMs === undefined ? "" : timeMsSchema.parse(expiresAtMs);
      const answer = await run(
        rotateScript,
        [keyRecordKey(old.hash), keyRecordKey(newHash), keyIdsKey, keyVersionKey, keyHistoryKey],
        [keyChangesChannel, old.hash, newHash, createKeyId(random), nowMs, endMs, expiry, keysMax],
      );
      const [outcome, next, previous] = Array.isArray(answer) ? answer : [];
      if (outcome === "rotated") {
        return {
          outcome,
          secret,
          key: parseKeyRecord(newHash, next),
          previous: parseKeyRecord(old.hash, previous),
        };
      }
      if (outcome === "alreadyRotated") return { outcome, rotatedTo: String(next) };
      return refused(outcome, rotateRefusals);
    },

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
const rotateRefusals = ["unknown", "revoked", "expired", "tooMany", "duplicateHash", "duplicateId"] as const;

const revocations = ["revoked", "alreadyRevoked", "unknown"] as const;

function refused<Outcome extends string>(outcome: unknown, known: readonly Outcome[]): { outcome: Outcome } {
  return { outcome: oneOf(outcome, known) };
}

function oneOf<Outcome extends string>(outcome: unknown, known: readonly Outcome[]): Outcome {
  const found = known.find((name) => name === outcome);
  if (found === undefined) throw new Error(`unexpected answer of a key script: ${String(outcome)}`);
  return found;
}

function flat(fields: Record<string, string>): string[] {
  return Object.entries(fields).flat();
}
