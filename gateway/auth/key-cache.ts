import { LRUCache } from "lru-cache";
import { type KeyHistory, type KeyLoss, keyLoss } from "../../lib/keys/key-history.ts";
import type { FoundKey } from "../../lib/keys/key-reader.ts";
import type { KeyStore } from "../../lib/keys/key-store.ts";
import { createRate } from "../limits/rate.ts";
import { createKeyDirectory } from "./key-directory.ts";

/** A key's record and when it was read, in monotonic milliseconds: expiry counts from there. */
export type KnownKey = { key: FoundKey; readAtMs: number };

/**
 * `undefined`: there is no such key. `"unavailable"`: nobody knows whether there is one, because Redis does not answer
 * or has lost its keys, and the key was not read within the last 5 minutes. `"tooMany"`: too many strange keys are
 * being looked up.
 */
export type FoundOrNot = KnownKey | undefined | "unavailable" | "tooMany";

export type KeyCache = {
  /** The record from memory, as long as it may be believed. */
  known(hash: string): KnownKey | undefined;
  /** The record of a key by the SHA-256 of its secret: from memory at once, else from Redis. */
  find(
    hash: string,
    options?: {
      /** Who asks has sent so many bad keys that this one is looked up only where few others are. */
      isRefused: boolean;
    },
  ): FoundOrNot | Promise<FoundOrNot>;
  /** Whether changes to keys are heard as they happen. */
  hearsChanges(): boolean;
  /** How keys are missing. `"none"`: production has no keys at all, and has never had any. */
  loss(): KeyLoss | "none" | undefined;
  /** The keys that were there last. */
  history(): KeyHistory | undefined;
  stats(): Readonly<LookUpStats>;
  stop(): void;
};

/** Look-ups of keys by how they ended: the first three asked Redis, the others did not. */
export type LookUpStats = {
  found: number;
  unknown: number;
  failed: number;
  /** Known from memory to be unknown. */
  remembered: number;
  /** Not looked up: beyond the bound for strange keys, or for those of refused addresses. */
  bounded: number;
  refused: number;
};

/** Bounds on what unknown keys may cost. */
export type KeyLookUpSettings = {
  unknownPerSecondMax: number;
  refusedPerSecondMax: number;
  unknownKeysMax: number;
};

type Entry = { known: KnownKey; stale: boolean };

const keysMax = 20_000;
/** A record is read again so often although its changes are heard: what goes wrong unnoticed is put right by it. */
const ageMsMax = 60_000;
/** While changes are not heard (the connection for them is being made anew). */
const unheardAgeMsMax = 500;
/** A key that is made after somebody tried it is heard of; this is for what goes wrong unnoticed. */
const unknownAgeMsMax = 5000;
/** How long a record serves while Redis does not answer (product.md, "Limits"). */
const withoutRedisAgeMsMax = 5 * 60_000;

/**
 * Keys' records in memory in front of Redis. Look-ups of the same key at the same time are one. Keys that nobody knows
 * are remembered apart, so that they push no good one out, and are looked up at a bounded rate; those that there are
 * never wait for that bound.
 */
export function createKeyCache({
  keyStore,
  monotonicMs,
  settings,
  keysExpected = false,
  onLoss,
}: {
  keyStore: Pick<KeyStore, "lookUp" | "watch" | "eachHash">;
  monotonicMs: () => number;
  settings: KeyLookUpSettings;
  /** Having none counts as having lost them: in production, keys are made by operators and by nobody else. */
  keysExpected?: boolean;
  /** Told of what `loss` answers: at each look at Redis while keys are missing, and once when they are not any more. */
  onLoss?: (loss: KeyLoss | "none" | undefined, known: KeyHistory | undefined) => void;
}): KeyCache {
  const entries = new LRUCache<string, Entry>({ max: keysMax });
  /** When each was looked up in vain. */
  const unknown = new LRUCache<string, number>({ max: settings.unknownKeysMax });
  const asking = new Map<string, Promise<FoundOrNot>>();
  const directory = createKeyDirectory(keyStore);
  const strangers = createRate({ perSecondMax: settings.unknownPerSecondMax, monotonicMs });
  const refused = createRate({ perSecondMax: settings.refusedPerSecondMax, monotonicMs });
  const stats: LookUpStats = { found: 0, unknown: 0, failed: 0, remembered: 0, bounded: 0, refused: 0 };

  const watch = keyStore.watch({
    onChange(hash) {
      entries.delete(hash);
      unknown.delete(hash);
      directory.add(hash);
    },
    onTeamChange(team) {
      for (const [hash, { known }] of entries.entries()) if (known.key.team === team) entries.delete(hash);
    },
    onVersionGap() {
      // Not dropped: without Redis, which may be why there is a gap, they serve for a while.
      for (const entry of entries.values()) entry.stale = true;
      unknown.clear();
      directory.reload();
      if (loss() === "none") onLoss?.("none", undefined);
    },
    ...(onLoss === undefined ? {} : { onLoss }),
  });

  function isFresh({ known, stale }: Entry, nowMs: number): boolean {
    return !stale && nowMs - known.readAtMs <= (watch.subscribed() ? ageMsMax : unheardAgeMsMax);
  }

  function isRememberedUnknown(hash: string, nowMs: number): boolean {
    const readAtMs = unknown.get(hash);
    if (readAtMs === undefined) return false;
    return nowMs - readAtMs <= (watch.subscribed() ? unknownAgeMsMax : unheardAgeMsMax);
  }

  /** The answer while Redis gives none. */
  function lastRead(hash: string): KnownKey | "unavailable" {
    const entry = entries.get(hash);
    const mayServe = entry !== undefined && monotonicMs() - entry.known.readAtMs <= withoutRedisAgeMsMax;
    return mayServe ? entry.known : "unavailable";
  }

  function loss(): KeyLoss | "none" | undefined {
    const isNone = keysExpected && watch.known()?.version === 0;
    return watch.loss() ?? (isNone ? "none" : undefined);
  }

  async function ask(hash: string): Promise<FoundOrNot> {
    const versionBefore = watch.version();
    const knownBefore = watch.known();
    const readAtMs = monotonicMs();
    try {
      const { key, history, lost } = await keyStore.lookUp(hash);
      stats[key === undefined ? "unknown" : "found"] += 1;
      // A change may have passed between the two connections: then this answer serves once and is not remembered.
      const stale = watch.version() !== versionBefore;
      const lossSeen = keyLoss({ known: knownBefore, lost, seen: history });
      if (lossSeen !== undefined && watch.loss() === undefined) watch.look();
      // Asked before the first look at Redis.
      if (keysExpected && history.version === 0) return lastRead(hash);
      if (key === undefined) {
        if (!stale) unknown.set(hash, readAtMs);
        if (lossSeen !== undefined) return lastRead(hash);
        entries.delete(hash);
        return undefined;
      }
      // A revocation may be among what an older state has lost.
      if (lossSeen === "emptied" || lossSeen === "older") return lastRead(hash);
      const known = { key, readAtMs };
      entries.set(hash, { known, stale });
      return known;
    } catch {
      stats.failed += 1;
      return lastRead(hash);
    } finally {
      asking.delete(hash);
    }
  }

  return {
    known(hash) {
      const entry = entries.get(hash);
      return entry !== undefined && isFresh(entry, monotonicMs()) ? entry.known : undefined;
    },
    find(hash, { isRefused } = { isRefused: false }) {
      const nowMs = monotonicMs();
      const entry = entries.get(hash);
      if (entry !== undefined && isFresh(entry, nowMs)) return entry.known;
      const lossNow = loss();
      if (lossNow !== undefined && lossNow !== "begunAnew") return lastRead(hash);
      if (isRememberedUnknown(hash, nowMs)) {
        stats.remembered += 1;
        return lossNow === undefined ? undefined : lastRead(hash);
      }
      const alreadyAsked = asking.get(hash);
      if (alreadyAsked !== undefined) return alreadyAsked;
      const isStrange = entry === undefined && !directory.has(hash);
      if (isStrange && !(isRefused ? refused : strangers).take()) {
        stats[isRefused ? "refused" : "bounded"] += 1;
        return "tooMany";
      }
      const asked = ask(hash);
      asking.set(hash, asked);
      return asked;
    },
    hearsChanges: () => watch.subscribed(),
    loss,
    history: () => watch.known(),
    stats: () => stats,
    stop() {
      directory.stop();
      watch.stop();
    },
  };
}
