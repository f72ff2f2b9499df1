import { LRUCache } from "lru-cache";
import { createRate } from "../limits/rate.ts";

/** Bounds on what unknown keys may cost. */
export type KeyLookUpSettings = {
  unknownPerSecondMax: number;
  refusedPerSecondMax: number;
  unknownKeysMax: number;
};

/** How old a record may be while changes are not heard, because the connection for them is being made anew. */
export const unheardAgeMsMax = 500;
/** A key that is made after somebody tried it is heard of; this is for what goes wrong unnoticed. */
const unknownAgeMsMax = 5000;

/** Keys that nobody knows: remembered apart from the good ones, and looked up at a bounded rate. */
export function createUnknownKeys({
  settings,
  hearsChanges,
  monotonicMs,
}: {
  settings: KeyLookUpSettings;
  hearsChanges: () => boolean;
  monotonicMs: () => number;
}) {
  /** When each was looked up in vain. */
  const readAtMs = new LRUCache<string, number>({ max: settings.unknownKeysMax });
  const strangers = createRate({ perSecondMax: settings.unknownPerSecondMax, monotonicMs });
  const refused = createRate({ perSecondMax: settings.refusedPerSecondMax, monotonicMs });

  return {
    note: (hash: string, atMs: number) => void readAtMs.set(hash, atMs),
    forget: (hash: string) => void readAtMs.delete(hash),
    clear: () => readAtMs.clear(),
    isRemembered(hash: string, nowMs: number): boolean {
      const atMs = readAtMs.get(hash);
      return atMs !== undefined && nowMs - atMs <= (hearsChanges() ? unknownAgeMsMax : unheardAgeMsMax);
    },
    /** Takes one look-up of a strange key from the bound for it. `isRefused`: its address has sent many bad keys. */
    mayLookUp: ({ isRefused }: { isRefused: boolean }) => (isRefused ? refused : strangers).take(),
  };
}
