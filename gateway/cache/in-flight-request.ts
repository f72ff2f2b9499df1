import type { Settle } from "../upstream/upstream-result.ts";
import { type CacheKey, isSameKey } from "./cache-key.ts";

/** A request that a validator has not answered yet, and the calls that are coalesced with it: mostly none. */
export type InFlightRequest = CacheKey & {
  readonly hash: number;
  waiters: Settle[] | undefined;
  /** The next request in the same place. */
  next: InFlightRequest | undefined;
};

export type InFlightTable = ReturnType<typeof createInFlightTable>;

const places = 1024;

/**
 * The requests in flight, by hash. Each comes and goes within a millisecond. A Map takes 210 ns for that and rebuilds itself
 * again and again; an array of chains takes 40 for a few hundred.
 */
export function createInFlightTable() {
  const firsts = new Array<InFlightRequest | undefined>(places).fill(undefined);
  const placeOf = (hash: number) => hash & (places - 1);

  return {
    find(hash: number, key: CacheKey): InFlightRequest | undefined {
      let request = firsts[placeOf(hash)];
      while (request !== undefined && !(request.hash === hash && isSameKey(request, key)))
        request = request.next;
      return request;
    },
    open(hash: number, { rule, paramsText }: CacheKey): InFlightRequest {
      const place = placeOf(hash);
      const request: InFlightRequest = { rule, paramsText, hash, waiters: undefined, next: firsts[place] };
      firsts[place] = request;
      return request;
    },
    close(request: InFlightRequest): void {
      const place = placeOf(request.hash);
      let before = firsts[place];
      if (before === request) {
        firsts[place] = request.next;
        return;
      }
      while (before !== undefined && before.next !== request) before = before.next;
      if (before !== undefined) before.next = request.next;
    },
  };
}
