import type { UpstreamResult } from "../upstream/upstream-result.ts";
import { type CacheKey, isSameKey } from "./cache-key.ts";

/** A question that a validator is being asked, and those who wait for the same answer: mostly nobody. */
export type InFlightRequest = CacheKey & {
  readonly hash: number;
  waiters: ((answer: UpstreamResult) => void)[] | undefined;
  /** Another one in the same place. */
  next: InFlightRequest | undefined;
};

export type InFlightTable = ReturnType<typeof createInFlightTable>;

const places = 1024;

/**
 * What is being asked now, by hash. Each question comes and goes within a millisecond, and a Map takes 210 ns for that and
 * rebuilds itself again and again; a few hundred in an array of chains take 40.
 */
export function createInFlightTable() {
  const firsts = new Array<InFlightRequest | undefined>(places).fill(undefined);
  const placeOf = (hash: number) => hash & (places - 1);

  return {
    find(hash: number, question: CacheKey): InFlightRequest | undefined {
      let asking = firsts[placeOf(hash)];
      while (asking !== undefined && !(asking.hash === hash && isSameKey(asking, question)))
        asking = asking.next;
      return asking;
    },
    open(hash: number, { rule, paramsText }: CacheKey): InFlightRequest {
      const place = placeOf(hash);
      const asking: InFlightRequest = { rule, paramsText, hash, waiters: undefined, next: firsts[place] };
      firsts[place] = asking;
      return asking;
    },
    close(asking: InFlightRequest): void {
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
