import { LRUCache } from "lru-cache";
import { type Entry, entryBytes, type Shelf } from "./entry.ts";

/** What never changes on this chain: kept as long as there is room, the least recently used goes first. */
export function createForeverShelf({ bytesMax }: { bytesMax: number }): Shelf {
  const kept = new LRUCache<string, Entry>({
    maxSize: bytesMax,
    sizeCalculation: (entry, key) => entryBytes(key, entry),
  });
  // Apart from what is kept, where an entry could be the least recently used while it is being asked.
  const asking = new Map<string, Entry>();

  function drop(key: string, entry: Entry): void {
    if (asking.get(key) === entry) asking.delete(key);
  }

  return {
    find: (key) => kept.get(key) ?? asking.get(key),
    open(key, entry) {
      asking.set(key, entry);
    },
    keep(key, entry) {
      drop(key, entry);
      kept.set(key, entry);
    },
    drop,
    entries: () => kept.size,
    bytes: () => kept.calculatedSize,
  };
}
