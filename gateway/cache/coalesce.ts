import type { CallToForward } from "../methods/call.ts";
import type { AnnouncedHead } from "../upstream/announced-head.ts";
import type { Upstream } from "../upstream/upstream.ts";
import {
  type CallOptions,
  isStreamed,
  type Settle,
  type UpstreamResult,
} from "../upstream/upstream-result.ts";
import type { AnswerCache } from "./entry.ts";
import type { InFlightRequest } from "./in-flight-request.ts";
import type { createStoredAnswers } from "./stored-answers.ts";

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

/** One request to a validator for all calls with the same cache key: the first one leads, the others wait. */
export function createCoalescing({
  upstream,
  stored,
  monotonicMs,
}: {
  upstream: Pick<Upstream, "submit" | "head">;
  stored: ReturnType<typeof createStoredAnswers>;
  monotonicMs: () => number;
}) {
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

  return { lead, coalesce };
}

function isFailure(answer: UpstreamResult): boolean {
  return answer === "unavailable" || answer === "crowded";
}

function wait(request: InFlightRequest, waiter: Settle): void {
  if (request.waiters === undefined) request.waiters = [waiter];
  else request.waiters.push(waiter);
}
