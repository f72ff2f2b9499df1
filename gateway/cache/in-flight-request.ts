import type { StreamedAnswer, Unanswered, WholeAnswer } from "../upstream/validator-pool.ts";
import { isSame, type Question } from "./cache-key.ts";

export type Asked = WholeAnswer | StreamedAnswer | Unanswered;

/** A question that a validator is being asked, and those who wait for the same answer: mostly nobody. */
export type Asking = Question & {
  readonly hash: number;
  waiters: ((answer: Asked) => void)[] | undefined;
  /** Another one in the same place. */
  next: Asking | undefined;
};

export type AskingTable = ReturnType<typeof createAskingTable>;

const places = 1024;

/**
 * What is being asked now, by hash. Each question comes and goes within a millisecond, and a Map takes 210 ns for that and
 * rebuilds itself again and again; a few hundred in an array of chains take 40.
 */
export function createAskingTable() {
  const firsts = new Array<Asking | undefined>(places).fill(undefined);
  const placeOf = (hash: number) => hash & (places - 1);

  return {
    find(hash: number, question: Question): Asking | undefined {
      let asking = firsts[placeOf(hash)];
      while (asking !== undefined && !(asking.hash === hash && isSame(asking, question)))
        asking = asking.next;
      return asking;
    },
    open(hash: number, { rule, paramsText }: Question): Asking {
      const place = placeOf(hash);
      const asking: Asking = { rule, paramsText, hash, waiters: undefined, next: firsts[place] };
      firsts[place] = asking;
      return asking;
    },
    close(asking: Asking): void {
      const place = placeOf(asking.hash);
      let before = firsts[place];
      if (before === asking) {
        firsts[place] = asking.next;
        return;
      }
      while (before !== undefined && before.next !== asking) before = before.next;
      if (before !== undefined) before.next = asking.next;
    },
  };
}
