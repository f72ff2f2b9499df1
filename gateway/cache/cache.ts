import type { CallToForward } from "../methods/call.ts";
import type { AnnouncedHead } from "../upstream/announced-head.ts";
import type { Upstream } from "../upstream/upstream.ts";
import type { Settle } from "../upstream/upstream-result.ts";
import { hashCacheKey, paramsCharsMax } from "./cache-key.ts";
import { type CacheOptions, createCoalescing } from "./coalesce.ts";
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
  const { lead, coalesce } = createCoalescing({ upstream, stored, monotonicMs });
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

function newCounts() {
  return { hits: 0, misses: 0, joins: 0 };
}
