import { LRUCache } from "lru-cache";
import { answerIn, type Entry, entryBytes, type Shelf } from "./entry.ts";
import { createAskingTable } from "./in-flight-request.ts";

/** What never changes on this chain: kept as long as there is room, the least recently used goes first. */
export function createForeverShelf({ bytesMax }: { bytesMax: number }): Shelf {
  const kept = new LRUCache<number, Entry>({ maxSize: bytesMax, sizeCalculation: entryBytes });

  return {
    asking: createAskingTable(),
    find: (hash, question) => answerIn(kept.get(hash), question),
    keep(hash, entry) {
      kept.set(hash, entry);
    },
    entries: () => kept.size,
    bytes: () => kept.calculatedSize,
  };
}
