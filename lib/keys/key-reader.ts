import {
  keyHistoryKey,
  keyIdsKey,
  keyLostKey,
  keyRecordKey,
  keyTeamsKey,
  keyVersionKey,
} from "../redis/keys/api-keys.ts";
import { readTime } from "../redis/read-time.ts";
import type { RedisClient } from "../redis/redis-client.ts";
import { runScript } from "../redis/run-script.ts";
import { type KeyHistory, parseKeyHistory, parseLostKeys } from "./key-history.ts";
import {
  CorruptKeyRecordError,
  type KeyRecord,
  parseKeyRecord,
  parseTeamSettings,
  type TeamSettings,
} from "./key-record.ts";
import { findScript } from "./key-scripts.ts";

/** The result of one look-up: everything that is needed to admit a call with the key. */
export type FoundKey = KeyRecord & {
  /** Settings of the key's team; only its name where the team sets nothing. */
  teamSettings: TeamSettings;
  /** Counted by Redis's clock from the moment of the answer; zero or below: has expired. Absent: never expires. */
  expiresInMs?: number;
};

/** The answer to a look-up, with what shows whether this Redis still has the keys that it had before. */
export type LookUp = {
  key: FoundKey | undefined;
  history: Omit<KeyHistory, "keys">;
  /** The keys that a gateway knew before they went missing. */
  lost: KeyHistory | undefined;
};

/** A list of keys. Broken records are named separately, so that one does not hide the others. */
export type KeyList = { keys: KeyRecord[]; corrupt: { id: string; problem: string }[] };

/** Records read in one pipeline, so that a long list never holds up the Redis that also counts limits. */
const listChunkSize = 200;

/** What is read of API keys. A record that cannot be read rejects with a CorruptKeyRecordError. */
export function createKeyReader({ redis, now }: { redis: RedisClient; now: (() => number) | undefined }) {
  async function readRecord(hash: string): Promise<KeyRecord> {
    return parseKeyRecord(
      hash,
      Object.entries(await reading(hash, () => redis.hgetall(keyRecordKey(hash)))).flat(),
    );
  }

  const reader = {
    /** Redis's time, or the injected clock's, in Unix milliseconds. */
    async nowMs(): Promise<number> {
      if (now !== undefined) return now();
      return readTime(redis, keyVersionKey);
    },

    /** One round trip. Finds revoked and expired keys too: `keyRefusal` judges them. */
    async lookUp(hash: string): Promise<LookUp> {
      const names = [keyRecordKey(hash), keyTeamsKey, keyVersionKey, keyHistoryKey, keyLostKey];
      const answer = await reading(hash, () =>
        runScript({ redis, script: findScript, keys: names, args: [] }),
      );
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
      return (await reader.lookUp(hash)).key;
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
  };
  return reader;
}

/** A record of the wrong Redis type is a corrupt record like any other. */
export async function reading<T>(hash: string, read: () => Promise<T>): Promise<T> {
  try {
    return await read();
  } catch (error) {
    if (!(error instanceof Error) || !error.message.includes("WRONGTYPE")) throw error;
    throw new CorruptKeyRecordError(`key record ${hash}: expected a hash`, { cause: error });
  }
}
