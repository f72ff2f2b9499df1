import { type KeyHistory, type KeyLoss, keyLoss } from "../../lib/keys/key-history.ts";
import type { KeyStore } from "../../lib/keys/key-store.ts";
import { createKeyDirectory } from "./key-directory.ts";
import { createKnownKeys, type KnownKey } from "./known-keys.ts";
import { createUnknownKeys, type KeyLookUpSettings } from "./unknown-keys.ts";

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
  /** How keys are missing. `"neverAny"`: production has no keys, and has never had any. `undefined`: none are missing. */
  loss(): KeyLoss | "neverAny" | undefined;
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
  /** Strange keys beyond the bound on their look-ups. */
  bounded: number;
  /** Strange keys of refused addresses, beyond the tighter bound for those. */
  refused: number;
};

export type KeyCacheOptions = {
  keyStore: Pick<KeyStore, "lookUp" | "watch" | "eachHash">;
  monotonicMs: () => number;
  settings: KeyLookUpSettings;
  /** Having none counts as having lost them: in production, keys are made by operators and by nobody else. */
  keysExpected?: boolean;
  /** Told of what `loss` answers: at each look at Redis while keys are missing, and once when they are not any more. */
  onLoss?: (loss: KeyLoss | "neverAny" | undefined, missing: KeyHistory | undefined) => void;
};

/**
 * Keys' records in memory in front of Redis. Look-ups of the same key at the same time are one. Keys that nobody knows
 * are remembered apart, so that they push no good one out, and are looked up at a bounded rate; those that there are
 * never wait for that bound.
 */
export function createKeyCache(options: KeyCacheOptions): KeyCache {
  const { keyStore, monotonicMs, settings, keysExpected = false, onLoss } = options;
  const good = createKnownKeys({ hearsChanges: () => watch.subscribed(), monotonicMs });
  const asking = new Map<string, Promise<FoundOrNot>>();
  const directory = createKeyDirectory(keyStore);
  const unknown = createUnknownKeys({ settings, hearsChanges: () => watch.subscribed(), monotonicMs });
  const stats: LookUpStats = { found: 0, unknown: 0, failed: 0, remembered: 0, bounded: 0, refused: 0 };

  const watch = keyStore.watch({
    onChange(hash) {
      good.drop(hash);
      unknown.forget(hash);
      directory.add(hash);
    },
    onTeamChange(team) {
      good.dropTeam(team);
    },
    onMayHaveMissed() {
      // Not dropped: without Redis, which may be why changes were missed, they serve for a while.
      good.markStale();
      unknown.clear();
      directory.reload();
      if (loss() === "neverAny") onLoss?.("neverAny", undefined);
    },
    ...(onLoss === undefined ? {} : { onLoss }),
  });

  function loss(): KeyLoss | "neverAny" | undefined {
    const hadNeverAny = keysExpected && watch.lastWhole()?.version === 0;
    return watch.loss() ?? (hadNeverAny ? "neverAny" : undefined);
  }

  async function ask(hash: string): Promise<FoundOrNot> {
    const versionBefore = watch.version();
    const wholeBefore = watch.lastWhole();
    const readAtMs = monotonicMs();
    try {
      const { key, history, lost } = await keyStore.lookUp(hash);
      stats[key === undefined ? "unknown" : "found"] += 1;
      // A change may have passed between the two connections: then this answer serves once and is not remembered.
      const stale = watch.version() !== versionBefore;
      const lossSeen = keyLoss({ known: wholeBefore, lost, seen: history });
      if (lossSeen !== undefined && watch.loss() === undefined) watch.look();
      // Asked before the first look at Redis.
      if (keysExpected && history.version === 0) return good.lastRead(hash);
      if (key === undefined) {
        if (!stale) unknown.note(hash, readAtMs);
        if (lossSeen !== undefined) return good.lastRead(hash);
        good.drop(hash);
        return undefined;
      }
      // A revocation may be among what an older state has lost.
      if (lossSeen === "emptied" || lossSeen === "older") return good.lastRead(hash);
      const known = { key, readAtMs };
      good.keep(hash, known, { stale });
      return known;
    } catch {
      stats.failed += 1;
      return good.lastRead(hash);
    } finally {
      asking.delete(hash);
    }
  }

  return {
    known: (hash) => good.fresh(hash, monotonicMs()),
    find(hash, { isRefused } = { isRefused: false }) {
      const nowMs = monotonicMs();
      const fresh = good.fresh(hash, nowMs);
      if (fresh !== undefined) return fresh;
      const lossNow = loss();
      if (lossNow !== undefined && lossNow !== "begunAnew") return good.lastRead(hash);
      if (unknown.isRemembered(hash, nowMs)) {
        stats.remembered += 1;
        return lossNow === undefined ? undefined : good.lastRead(hash);
      }
      const alreadyAsked = asking.get(hash);
      if (alreadyAsked !== undefined) return alreadyAsked;
      const isStrange = !good.has(hash) && !directory.has(hash);
      if (isStrange && !unknown.mayLookUp({ isRefused })) {
        stats[isRefused ? "refused" : "bounded"] += 1;
        return "tooMany";
      }
      const asked = ask(hash);
      asking.set(hash, asked);
      return asked;
    },
    hearsChanges: () => watch.subscribed(),
    loss,
    history: () => watch.lastWhole(),
    stats: () => stats,
    stop() {
      directory.stop();
      watch.stop();
    },
  };
}
