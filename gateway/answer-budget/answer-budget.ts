import type { AnswerSettings } from "./answer-settings.ts";

/** Which bound was reached. A closed list, because it labels a metric. */
export const answerBounds = ["body", "key", "process"] as const;
export type AnswerBound = (typeof answerBounds)[number];

/**
 * Counts the memory that answers hold, from the moment they are there until their readers have taken them.
 *
 * A key is charged for every answer that it holds. The process is charged once for an answer that several bodies hold,
 * because it is in memory once.
 */
export type AnswerBudget = {
  /** Opens a hold for the answers of one body of the key; or, with `set`, for the bytes that a socket's client has not read. */
  open(keyId: string): AnswerHold;
  heldBytes(): number;
  keysHolding(): number;
  /** How often a bound was reached. */
  refused(bound: AnswerBound): number;
};

/** Holds nothing at first. Does nothing after `release`. */
export type AnswerHold = {
  /** Takes bytes that no other hold shares, whatever the bounds. */
  add(bytes: number): void;
  /** Takes an answer that other holds may share. Returns the bound that forbids it, if any. */
  take(answer: object, bytes: number): AnswerBound | undefined;
  /** Replaces the bytes of `add`. False where a bound is exceeded. */
  set(bytes: number): boolean;
  release(): void;
};

/** The answers of a body, or the unread bytes of a socket, count from here on: most never do. */
export const uncountedBytesMax = 16 * 1024;

type KeyAccount = { bytes: number; holds: number };
type Shared = { holders: number };

/** The bounds are read anew for each answer. */
export function createAnswerBudget(
  settings: Readonly<Pick<AnswerSettings, "bodyBytesMax" | "keyBytesMax" | "processBytesMax">>,
): AnswerBudget {
  const keys = new Map<string, KeyAccount>();
  const shared = new Map<object, Shared>();
  const refused: Record<AnswerBound, number> = { body: 0, key: 0, process: 0 };
  let heldBytes = 0;

  function accountOf(keyId: string): KeyAccount {
    const known = keys.get(keyId);
    if (known !== undefined) return known;
    const account = { bytes: 0, holds: 0 };
    keys.set(keyId, account);
    return account;
  }

  /** Undefined where there is room. An answer that another hold shares costs the process nothing. */
  function boundMet(account: KeyAccount, ofBody: number, answer: object, bytes: number) {
    if (ofBody + bytes > settings.bodyBytesMax) return "body";
    if (account.bytes + bytes > settings.keyBytesMax) return "key";
    return !shared.has(answer) && heldBytes + bytes > settings.processBytesMax ? "process" : undefined;
  }

  function share(answer: object, bytes: number): void {
    const known = shared.get(answer);
    if (known !== undefined) known.holders += 1;
    else {
      shared.set(answer, { holders: 1 });
      heldBytes += bytes;
    }
  }

  function unshare(answer: object, bytes: number): void {
    const known = shared.get(answer);
    if (known === undefined) return;
    known.holders -= 1;
    if (known.holders > 0) return;
    shared.delete(answer);
    heldBytes -= bytes;
  }

  return {
    open(keyId) {
      const account = accountOf(keyId);
      account.holds += 1;
      let answers: { answer: object; bytes: number }[] = [];
      let own = 0;
      let all = 0;
      let isOver = false;
      const add = (bytes: number) => {
        own += bytes;
        all += bytes;
        account.bytes += bytes;
        heldBytes += bytes;
      };
      return {
        add(bytes) {
          if (!isOver) add(bytes);
        },
        take(answer, bytes) {
          const bound = isOver ? undefined : boundMet(account, all, answer, bytes);
          if (bound !== undefined) refused[bound] += 1;
          if (isOver || bound !== undefined) return bound;
          share(answer, bytes);
          answers.push({ answer, bytes });
          all += bytes;
          account.bytes += bytes;
          return undefined;
        },
        set(bytes) {
          if (isOver) return true;
          const isMore = bytes > own;
          add(bytes - own);
          if (!isMore) return true;
          const { keyBytesMax, processBytesMax } = settings;
          const bound =
            account.bytes > keyBytesMax ? "key" : heldBytes > processBytesMax ? "process" : undefined;
          if (bound !== undefined) refused[bound] += 1;
          return bound === undefined;
        },
        release() {
          if (isOver) return;
          isOver = true;
          account.bytes -= all;
          heldBytes -= own;
          for (const { answer, bytes } of answers) unshare(answer, bytes);
          answers = [];
          account.holds -= 1;
          if (account.holds === 0) keys.delete(keyId);
        },
      };
    },
    heldBytes: () => heldBytes,
    keysHolding: () => [...keys.values()].filter(({ bytes }) => bytes > 0).length,
    refused: (bound) => refused[bound],
  };
}
