import type { ByteText } from "../call.ts";
import type { StreamedAnswer, Unanswered, WholeAnswer } from "../upstream/validator-pool.ts";

export type Asked = WholeAnswer | StreamedAnswer | Unanswered;

/** A question that was asked: its answer, or the promise of one that others wait for too. */
export type Entry = { answer: WholeAnswer | undefined; asking: Promise<Asked> | undefined };

/** A place for entries, by the question's text. */
export type Shelf = {
  find(key: string): Entry | undefined;
  /** A question that is being asked. */
  open(key: string, entry: Entry): void;
  /** It is answered, and the answer may be kept. */
  keep(key: string, entry: Entry): void;
  /** It is answered, and nobody may have the answer after those who waited. */
  drop(key: string, entry: Entry): void;
  /** Answers that are kept. */
  entries(): number;
  bytes(): number;
};

/** What an entry takes besides its texts: two headers, the answer, the entry, its place. Measured: 190 to 240. */
const overheadBytes = 220;

export function entryBytes(key: ByteText, { answer }: Entry): number {
  return overheadBytes + key.length + (answer?.afterId.length ?? 0);
}
