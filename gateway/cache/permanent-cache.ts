import { LRUCache } from "lru-cache";
import { type AnswerCache, answerIn, type Entry, entryBytes } from "./entry.ts";
import { createInFlightTable } from "./in-flight-request.ts";

/** Answers that never change on this chain. Where room is short the least recently used goes first. */
export function createPermanentCache({ bytesMax }: { bytesMax: number }): AnswerCache {
  const kept = new LRUCache<number, Entry>({ maxSize: bytesMax, sizeCalculation: entryBytes });

  return {
    inFlight: createInFlightTable(),
    find: (hash, key) => answerIn(kept.get(hash), key),
    keep(hash, entry) {
      kept.set(hash, entry);
    },
    entries: () => kept.size,
    bytes: () => kept.calculatedSize,
  };
}
