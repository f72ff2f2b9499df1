import { LRUCache } from "lru-cache";
import type { FoundKey, KeyStore } from "../lib/key-store/key-store.ts";

/** A key's record and when it was read, in monotonic milliseconds: expiry counts from there. */
export type KnownKey = { key: FoundKey; readAtMs: number };

export type KeyCache = {
  /** The record from memory, where it is there and may still be believed. */
  known(hash: string): KnownKey | undefined;
  /**
   * The record of a key by the SHA-256 of its secret: from memory at once, else from Redis. `"unavailable"`: Redis does
   * not answer and the key was not read within the last 5 minutes.
   */
  find(hash: string): KnownKey | undefined | Promise<KnownKey | undefined | "unavailable">;
  /** Whether changes to keys are heard as they happen. */
  hearsChanges(): boolean;
  stop(): void;
};

type Entry = { known: KnownKey | undefined; team: string | undefined; readAtMs: number; stale: boolean };

const keysMax = 20_000;
/** A record is read again so often although its changes are heard: what goes wrong unnoticed is put right by it. */
const ageMsMax = 60_000;
/** While changes are not heard (the connection for them is being made anew). */
const unheardAgeMsMax = 500;
/** Short, since a key may be made the moment after somebody tried it. */
const unknownAgeMsMax = 1000;
/** How long a record serves while Redis does not answer (product.md, "Limits"). */
const withoutRedisAgeMsMax = 5 * 60_000;

/** Keys' records in memory in front of Redis. Questions for the same key at the same time are one. */
export function createKeyCache({
  keyStore,
  monotonicMs,
}: {
  keyStore: Pick<KeyStore, "find" | "watch">;
  monotonicMs: () => number;
}): KeyCache {
  const entries = new LRUCache<string, Entry>({ max: keysMax });
  const asking = new Map<string, Promise<KnownKey | undefined | "unavailable">>();

  const watch = keyStore.watch({
    onChange: (hash) => entries.delete(hash),
    onTeamChange(team) {
      for (const [hash, entry] of entries.entries()) if (entry.team === team) entries.delete(hash);
    },
    onVersionGap() {
      // Not dropped: without Redis, which may be why there is a gap, they serve for a while.
      for (const entry of entries.values()) entry.stale = true;
    },
  });

  function isFresh({ known, readAtMs, stale }: Entry, nowMs: number): boolean {
    if (stale) return false;
    const heardAgeMsMax = known === undefined ? unknownAgeMsMax : ageMsMax;
    return nowMs - readAtMs <= (watch.subscribed() ? heardAgeMsMax : unheardAgeMsMax);
  }

  async function ask(hash: string): Promise<KnownKey | undefined | "unavailable"> {
    const versionBefore = watch.version();
    const readAtMs = monotonicMs();
    try {
      const key = await keyStore.find(hash);
      const known = key === undefined ? undefined : { key, readAtMs };
      // A change may have passed between the two connections: then this answer serves once and is not remembered.
      const stale = watch.version() !== versionBefore;
      entries.set(hash, { known, team: key?.team, readAtMs, stale });
      return known;
    } catch {
      const entry = entries.get(hash);
      const mayServe = entry?.known !== undefined && monotonicMs() - entry.readAtMs <= withoutRedisAgeMsMax;
      return mayServe ? entry.known : "unavailable";
    } finally {
      asking.delete(hash);
    }
  }

  return {
    known(hash) {
      const entry = entries.get(hash);
      return entry !== undefined && isFresh(entry, monotonicMs()) ? entry.known : undefined;
    },
    find(hash) {
      const entry = entries.get(hash);
      if (entry !== undefined && isFresh(entry, monotonicMs())) return entry.known;
      const asked = asking.get(hash) ?? ask(hash);
      asking.set(hash, asked);
      return asked;
    },
    hearsChanges: () => watch.subscribed(),
    stop: () => watch.stop(),
  };
}
