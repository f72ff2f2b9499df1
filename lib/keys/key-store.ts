import type { Redis } from "ioredis";
import {
  keyChangesChannel,
  keyHistoryKey,
  keyIdsKey,
  keyLostKey,
  keyRecordKey,
  keyTeamsKey,
  keyVersionKey,
} from "../redis/keys/api-keys.ts";
import { runScript, type Script } from "../redis/run-script.ts";
import { createApiKey, createKeyId, hashApiKey, type Profile } from "./api-key.ts";
import { type KeyHistory, parseKeyHistory, parseLostKeys } from "./key-history.ts";
import {
  CorruptKeyRecordError,
  type KeyRecord,
  type KeySettings,
  keyRecordToFields,
  keySettingsSchema,
  parseKeyRecord,
  parseTeamSettings,
  type TeamSettings,
  timeMsSchema,
} from "./key-record.ts";
import { createKeyRestore } from "./key-restore.ts";
import { createScript, findScript, revokeScript, rotateScript } from "./key-scripts.ts";
import { type SeedKey, type SeedResult, seedKeys } from "./seed-keys.ts";
import { createTeamStore } from "./team-store.ts";
import { type KeyChangeHandlers, type KeyWatch, watchKeys } from "./watch-keys.ts";

/** What one look-up brings: all that is needed to admit a call with the key. */
export type FoundKey = KeyRecord & {
  /** Settings of the key's team; only its name where the team sets nothing. */
  teamSettings: TeamSettings;
  /** Counted by Redis's clock from the moment of the answer; zero or below: has expired. Absent: never expires. */
  expiresInMs?: number;
};

/** Answer to a look-up, with what tells whether the keys of this Redis are those that were there before. */
export type LookUp = {
  key: FoundKey | undefined;
  history: Omit<KeyHistory, "keys">;
  /** What a gateway knew of before it went missing. */
  lost: KeyHistory | undefined;
};

/** Records that may exist at once, revoked and expired ones included. */
export const keysMax = 100_000;
/** Records read in one pipeline, so that a long list never holds up the Redis that also counts limits. */
const listChunkSize = 200;

export type CreateResult =
  | { outcome: "created"; secret: string; key: KeyRecord }
  | { outcome: "unknownTeam" | "tooMany" | "duplicateHash" | "duplicateId" };

export type RotateResult =
  | { outcome: "rotated"; secret: string; key: KeyRecord; previous: KeyRecord }
  | { outcome: "alreadyRotated"; rotatedTo: string }
  | { outcome: "unknown" | "revoked" | "expired" | "tooMany" | "duplicateHash" | "duplicateId" };

/** A list that one broken record does not hide: it is named beside the others. */
export type KeyList = { keys: KeyRecord[]; corrupt: { id: string; problem: string }[] };

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

  const store = {
    ...createTeamStore({ redis }),
    ...createKeyRestore({ redis, keysMax }),

    /** Redis's time, or the injected clock's, in Unix milliseconds. */
    async nowMs(): Promise<number> {
      if (now !== undefined) return now();
      const [seconds, microseconds] = await redis.time();
      return Number(seconds) * 1000 + Math.floor(Number(microseconds) / 1000);
    },

    /** One round trip. Finds revoked and expired keys too: `keyRefusal` judges them. */
    async lookUp(hash: string): Promise<LookUp> {
      const names = [keyRecordKey(hash), keyTeamsKey, keyVersionKey, keyHistoryKey, keyLostKey];
      const answer = await reading(hash, () => run(findScript, names, []));
      const [fields, settings, redisNowMs, version, history, lost] = Array.isArray(answer) ? answer : [];
      const seen = { history: parseKeyHistory(version, history), lost: parseLostKeys(lost) };
      if (!Array.isArray(fields)) return { key: undefined, ...seen };
      const record = parseKeyRecord(hash, fields);
      const key: FoundKey = { ...record, teamSettings: parseTeamSettings(record.team, settings) };
      if (record.expiresAtMs !== undefined) {
        key.expiresInMs = record.expiresAtMs - (now === undefined ? Number(redisNowMs) : now());
      }
      return { key, ...seen };
    },

    /** The key alone. */
    async find(hash: string): Promise<FoundKey | undefined> {
      return (await store.lookUp(hash)).key;
    },

    /** Hands over the hashes of all records, some hundreds at a time. */
    async eachHash(hear: (hash: string) => void): Promise<void> {
      let cursor = "0";
      do {
        const [next, pairs] = await redis.hscan(keyIdsKey, cursor, "COUNT", listChunkSize);
        for (let index = 1; index < pairs.length; index += 2) hear(pairs[index] ?? "");
        cursor = next;
      } while (cursor !== "0");
    },

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

    /** All keys, or those of one team; oldest first. */
    async list({ team }: { team?: string } = {}): Promise<KeyList> {
      const index = Object.entries(await redis.hgetall(keyIdsKey));
      const result: KeyList = { keys: [], corrupt: [] };
      for (let start = 0; start < index.length; start += listChunkSize) {
        const chunk = index.slice(start, start + listChunkSize);
        const records = await Promise.allSettled(chunk.map(([, hash]) => readRecord(hash)));
        records.forEach((read, offset) => {
          if (read.status === "fulfilled") result.keys.push(read.value);
          else if (!(read.reason instanceof CorruptKeyRecordError)) throw read.reason;
          else result.corrupt.push({ id: chunk[offset]?.[0] ?? "", problem: read.reason.message });
        });
      }
      if (team !== undefined) result.keys = result.keys.filter((key) => key.team === team);
      result.keys.sort((a, b) => a.createdAtMs - b.createdAtMs || (a.id < b.id ? -1 : 1));
      return result;
    },

    /** The record of a public id. */
    async show(id: string): Promise<KeyRecord | undefined> {
      const hash = await redis.hget(keyIdsKey, id);
      return hash === null ? undefined : readRecord(hash);
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

    /** For good: there is no way back. A second time changes nothing. */
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

  async function readRecord(hash: string): Promise<KeyRecord> {
    return parseKeyRecord(hash, flat(await reading(hash, () => redis.hgetall(keyRecordKey(hash)))));
  }

  return store;
}

export type KeyStore = ReturnType<typeof createKeyStore>;

const createRefusals = ["unknownTeam", "tooMany", "duplicateHash", "duplicateId"] as const;
const rotateRefusals = ["unknown", "revoked", "expired", "tooMany", "duplicateHash", "duplicateId"] as const;

const revocations = ["revoked", "alreadyRevoked", "unknown"] as const;

/** A record of the wrong Redis type is a corrupt record like any other. */
async function reading<T>(hash: string, read: () => Promise<T>): Promise<T> {
  try {
    return await read();
  } catch (error) {
    if (!(error instanceof Error) || !error.message.includes("WRONGTYPE")) throw error;
    throw new CorruptKeyRecordError(`key record ${hash}: expected a hash`, { cause: error });
  }
}

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
