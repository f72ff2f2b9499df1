import type { WholeAnswer } from "../upstream/upstream-result.ts";
import { type CacheKey, isSameKey } from "./cache-key.ts";
import type { InFlightTable } from "./in-flight-request.ts";

/** A cached answer with its key, both detached from longer texts. */
export type Entry = CacheKey & { answer: WholeAnswer };

/** Answers by the hash of their key. Of two keys with one hash only the newer is there. */
export type AnswerCache = {
  /** Requests for answers that are not here yet. Most of them are never shared and never kept. */
  readonly inFlight: InFlightTable;
  find(hash: number, key: CacheKey): WholeAnswer | undefined;
  keep(hash: number, entry: Entry): void;
  /** How many answers are here. */
  entries(): number;
  bytes(): number;
};

/** What an entry takes besides its texts: their headers, the answer, the entry, its place in the map. */
const overheadBytes = 220;

export function entryBytes({ paramsText, answer }: Entry): number {
  return overheadBytes + paramsText.length + answer.afterId.length;
}

export function answerIn(entry: Entry | undefined, key: CacheKey): WholeAnswer | undefined {
  return entry !== undefined && isSameKey(entry, key) ? entry.answer : undefined;
}
