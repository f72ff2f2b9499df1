import type { CallToForward } from "../methods/call.ts";
import type { AnnouncedHead } from "../upstream/announced-head.ts";
import type { Upstream } from "../upstream/upstream.ts";
import {
  type CallOptions,
  isStreamed,
  type Settle,
  type UpstreamResult,
} from "../upstream/upstream-result.ts";
import { hashCacheKey, paramsCharsMax } from "./cache-key.ts";
import type { AnswerCache } from "./entry.ts";
import type { InFlightRequest } from "./in-flight-request.ts";
import { createStoredAnswers } from "./stored-answers.ts";

export type Cache = {
  /**
   * Gives `settle` the answer to a call. A cached answer comes before this returns. Any other comes from a validator, which
   * gets one request for all calls with the same cache key. Never throws; a stream has to be started or aborted.
   */
  submit(call: CallToForward, options: CacheOptions, settle: Settle): void;
  stats(): CacheStats;
  stop(): void;
};

export type CacheOptions = CallOptions & {
  /** The head of the call's body; undefined where there was none. */
  head: AnnouncedHead | undefined;
  /** No cached answer will do. The new answer is cached. */
  isFresh: boolean;
  /** Gets where the answer comes from. */
  note?: (source: Source) => void;
};

/** `hit`: cached; `miss`: from a validator; `join`: coalesced with a request that was in flight. */
export type Source = "hit" | "miss" | "join";

export type ClassStats = Record<"hits" | "misses" | "joins" | "entries" | "bytes", number>;
export type CacheStats = Record<"head" | "forever", ClassStats>;

/** Caches answers in front of the upstream. With a `bytesMax` of 0 it caches and coalesces nothing. */
export function createCache({
  upstream,
  settings,
  monotonicMs,
}: {
  upstream: Pick<Upstream, "submit" | "head" | "waitForHead" | "onHead" | "onEpoch">;
  settings: { bytesMax: number; entryBytesMax: number };
  monotonicMs: () => number;
}): Cache {
  const stored = createStoredAnswers({ upstream, settings });
  const counts = { head: newCounts(), forever: newCounts() };

  /** The announced head is the answer, the same for everybody. A call that comes before there is one waits for it. */
  function answerBlockNumber({ rule }: CallToForward, { head, note }: CacheOptions, settle: Settle): void {
    if (head !== undefined) {
      counts.head.hits += 1;
      note?.("hit");
      settle(head.blockNumber);
      return;
    }
    note?.("miss");
    void upstream
      .waitForHead(rule.timeoutMs)
      .then(() => settle(upstream.head()?.blockNumber ?? "unavailable"));
  }

  function answer(
    call: CallToForward,
    { hash, head }: { hash: number; head: AnnouncedHead },
    options: CacheOptions,
    settle: Settle,
  ): void {
    const cache = stored.cacheFor(call, head);
    const count = stored.isHeadCache(cache) ? counts.head : counts.forever;
    const known = options.isFresh ? undefined : cache.find(hash, call);
    const request = options.isFresh || known !== undefined ? undefined : cache.inFlight.find(hash, call);
    if (known !== undefined) {
      count.hits += 1;
      options.note?.("hit");
      settle(known);
    } else if (request !== undefined) {
      count.joins += 1;
      options.note?.("join");
      coalesce(call, { hash, request }, options, settle);
    } else {
      count.misses += 1;
      options.note?.("miss");
      lead(call, { hash, cache }, options, settle);
    }
  }

  /** Asks for all calls with this key. A call that nobody shares costs one closure here and no more. */
  function lead(
    call: CallToForward,
    { hash, cache }: { hash: number; cache: AnswerCache },
    options: CacheOptions,
    settle: Settle,
  ): void {
    const chain = stored.permanent();
    const request = options.isFresh ? undefined : cache.inFlight.open(hash, call);
    upstream.submit(call, options, (answer) => {
      if (request !== undefined) cache.inFlight.close(request);
      const isWanted = request === undefined || request.waiters !== undefined;
      if (chain === stored.permanent()) stored.keep(call, { hash, cache, answer, isWanted });
      settle(answer);
      if (request?.waiters !== undefined) for (const waiter of request.waiters) waiter(answer);
    });
  }

  /**
   * Waits for the leader's answer. If that fails, one of those who waited leads a second request for all of them, within its
   * own time. A stream has one reader, so the others ask for themselves.
   */
  function coalesce(
    call: CallToForward,
    { hash, request }: { hash: number; request: InFlightRequest },
    options: CacheOptions,
    settle: Settle,
  ): void {
    const startedMs = monotonicMs();
    wait(request, (shared) => {
      const head = upstream.head();
      if (!isFailure(shared) || head === undefined) return share(shared);
      const cache = stored.cacheFor(call, head);
      const known = cache.find(hash, call);
      if (known !== undefined) return settle(known);
      const other = cache.inFlight.find(hash, call);
      if (other === undefined) lead(call, { hash, cache }, withTimeLeft(), settle);
      else wait(other, share);
    });

    function share(shared: UpstreamResult): void {
      // "crowded" is about the leader's key. This call's key may have room.
      if (shared !== "crowded" && (typeof shared === "string" || !isStreamed(shared))) settle(shared);
      else upstream.submit(call, withTimeLeft(), settle);
    }

    function withTimeLeft(): CacheOptions {
      return { ...options, timeoutMs: Math.max(0, call.rule.timeoutMs - (monotonicMs() - startedMs)) };
    }
  }

  function passBy(call: CallToForward, options: CacheOptions, settle: Settle): void {
    options.note?.("miss");
    upstream.submit(call, options, settle);
  }

  return {
    submit(call, options, settle) {
      if (call.rule.name === "eth_blockNumber") return answerBlockNumber(call, options, settle);
      const head = upstream.head();
      if (head === undefined || !stored.concerns(call, head)) return passBy(call, options, settle);
      if (call.paramsText.length > paramsCharsMax) return passBy(call, options, settle);
      answer(call, { hash: hashCacheKey(call), head }, options, settle);
    },
    stats() {
      const { head, forever } = stored.sizes();
      return { head: { ...counts.head, ...head }, forever: { ...counts.forever, ...forever } };
    },
    stop: stored.stop,
  };
}

function isFailure(answer: UpstreamResult): boolean {
  return answer === "unavailable" || answer === "crowded";
}

function wait(request: InFlightRequest, waiter: Settle): void {
  if (request.waiters === undefined) request.waiters = [waiter];
  else request.waiters.push(waiter);
}

function newCounts() {
  return { hits: 0, misses: 0, joins: 0 };
}
