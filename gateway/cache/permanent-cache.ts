import { LRUCache } from "lru-cache";
import { type AnswerCache, answerIn, type Entry, entryBytes } from "./entry.ts";
import { createInFlightTable } from "./in-flight-request.ts";

/** What never changes on this chain: kept as long as there is room, the least recently used goes first. */
export function createPermanentCache({ bytesMax }: { bytesMax: number }): AnswerCache {
  const kept = new LRUCache<number, Entry>({ maxSize: bytesMax, sizeCalculation: entryBytes });

  return {
    inFlight: createInFlightTable(),
    find: (hash, question) => answerIn(kept.get(hash), question),
    keep(hash, entry) {
      kept.set(hash, entry);
    },
    entries: () => kept.size,
    bytes: () => kept.calculatedSize,
  };
}
