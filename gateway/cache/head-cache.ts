import { type AnswerCache, answerIn, type Entry, entryBytes } from "./entry.ts";
import { createInFlightTable } from "./in-flight-request.ts";

/**
 * What holds until the next block. A plain map that is thrown away whole with each head: keeping an order of use, as
 * an LRU does, would cost 0.7 µs an answer and serve for two seconds. When it is full, nothing more is kept until then.
 */
export function createHeadCache({ bytesMax }: { bytesMax: number }): AnswerCache {
  const kept = new Map<number, Entry>();
  let bytes = 0;

  return {
    inFlight: createInFlightTable(),
    find: (hash, question) => answerIn(kept.get(hash), question),
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
