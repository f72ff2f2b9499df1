import { type AnswerCache, answerIn, type Entry, entryBytes } from "./entry.ts";
import { createInFlightTable } from "./in-flight-request.ts";

/**
 * Answers that hold until the next block: a plain map that each new head throws away whole. An order of use, as an LRU keeps
 * it, would cost 0.7 µs an answer and serve for two seconds. A full cache takes nothing more.
 */
export function createHeadCache({ bytesMax }: { bytesMax: number }): AnswerCache {
  const kept = new Map<number, Entry>();
  let bytes = 0;

  return {
    inFlight: createInFlightTable(),
    find: (hash, key) => answerIn(kept.get(hash), key),
    keep(hash, entry) {
      const before = kept.get(hash);
      const added = entryBytes(entry) - (before === undefined ? 0 : entryBytes(before));
      if (bytes + added > bytesMax) return;
      kept.set(hash, entry);
      bytes += added;
    },
    entries: () => kept.size,
    bytes: () => bytes,
  };
}
