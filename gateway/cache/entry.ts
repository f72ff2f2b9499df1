import type { WholeAnswer } from "../upstream/upstream-result.ts";
import { type CacheKey, isSameKey } from "./cache-key.ts";
import type { InFlightTable } from "./in-flight-request.ts";

/** A remembered answer, with a text of its own for its question. */
export type Entry = CacheKey & { answer: WholeAnswer };

/** A place for answers, by the question's hash: of two questions with one hash only the newer is there. */
export type AnswerCache = {
  /** What is being asked: apart from what is kept, since most of it is asked once and forgotten. */
  readonly inFlight: InFlightTable;
  find(hash: number, question: CacheKey): WholeAnswer | undefined;
  keep(hash: number, entry: Entry): void;
  /** Answers that are kept. */
  entries(): number;
  bytes(): number;
};

/** What an entry takes besides its texts: two headers, the answer, the entry, its place. */
const overheadBytes = 220;

export function entryBytes({ paramsText, answer }: Entry): number {
  return overheadBytes + paramsText.length + answer.afterId.length;
}

export function answerIn(entry: Entry | undefined, question: CacheKey): WholeAnswer | undefined {
  return entry !== undefined && isSameKey(entry, question) ? entry.answer : undefined;
}
