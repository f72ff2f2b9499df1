import { LRUCache } from "lru-cache";
import type { KeyRecord } from "../lib/key-store/key-record.ts";

export type KeyCache = {
  /** The record of a key by the SHA-256 of its secret: from memory at once, else from Redis. */
  find(hash: string): KeyRecord | undefined | Promise<KeyRecord | undefined | "unavailable">;
};

const recordsMax = 10_000;
const recordAgeMsMax = 60_000;
/** Short, since a key may be made the moment after somebody tried it. */
const unknownAgeMsMax = 3000;

/** Keys' records in memory in front of Redis. Questions for the same key at the same time are one. */
export function createKeyCache({
  findKey,
}: {
  /** Asks Redis; rejects where it does not answer. */
  findKey: (hash: string) => Promise<KeyRecord | undefined>;
}): KeyCache {
  const records = new LRUCache<string, { record: KeyRecord | undefined }>({ max: recordsMax });
  const waiting = new Map<string, Promise<KeyRecord | undefined | "unavailable">>();

  async function ask(hash: string): Promise<KeyRecord | undefined | "unavailable"> {
    try {
      const record = await findKey(hash);
      records.set(hash, { record }, { ttl: record === undefined ? unknownAgeMsMax : recordAgeMsMax });
      return record;
    } catch {
      return "unavailable";
    } finally {
      waiting.delete(hash);
    }
  }

  return {
    find(hash) {
      const known = records.get(hash);
      if (known !== undefined) return known.record;
      const asked = waiting.get(hash) ?? ask(hash);
      waiting.set(hash, asked);
      return asked;
    },
  };
}
