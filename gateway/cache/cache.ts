import type { ByteText } from "../json-rpc/answer.ts";
import type { CallToForward } from "../methods/call.ts";
import type { AnnouncedHead, Upstream } from "../upstream/upstream.ts";
import { isStreamed, type UpstreamResult, type WholeAnswer } from "../upstream/upstream-result.ts";
import { hashCacheKey, paramsCharsMax } from "./cache-key.ts";
import { isCacheable } from "./cacheable.ts";
import { createDoorkeeper } from "./doorkeeper.ts";
import type { AnswerCache } from "./entry.ts";
import { createHeadCache } from "./head-cache.ts";
import type { InFlightRequest } from "./in-flight-request.ts";
import { createPermanentCache } from "./permanent-cache.ts";

export type Cache = {
  /**
   * Gives `settle` the answer to a call: before it returns where it is remembered, else from a validator, which is asked
   * once for all who ask the same meanwhile. Never throws; a stream has to be started or aborted.
   */
  submit(call: CallToForward, options: CacheOptions, settle: (answer: UpstreamResult) => void): void;
  stats(): CacheStats;
  stop(): void;
};

export type CacheOptions = {
  group: string;
  mayStream: boolean;
  /** The head of the call's body; undefined where there was none. */
  head: AnnouncedHead | undefined;
  /** Memory is passed by, and has the new answer afterwards. */
  isFresh: boolean;
  /** Is told where the answer comes from, for who wants to know. */
  note?: (source: Source) => void;
};

/** From memory; from a validator; from a validator that somebody else was asking already. */
export type Source = "hit" | "miss" | "join";

export type ClassStats = Record<"hits" | "misses" | "joins" | "entries" | "bytes", number>;
export type CacheStats = Record<"head" | "forever", ClassStats>;

/**
 * So many answers a shelf takes as they come; then only what is asked a second time. An answer that is never asked for
 * again costs more to keep than to ask for (DECISIONS.md): the collector carries it from generation to generation.
 */
const keptAtOnceMax = 4096;

/** Where `bytesMax` is 0 nothing is remembered and nothing shared. */
export function createCache({
  upstream,
  settings: { bytesMax, entryBytesMax },
  monotonicMs,
}: {
  upstream: Pick<Upstream, "submit" | "head" | "onHead" | "onEpoch">;
  settings: { bytesMax: number; entryBytesMax: number };
  monotonicMs: () => number;
}): Cache {
  // What holds for one block only is worth less room than what never changes.
  const newHeadCache = () => createHeadCache({ bytesMax: Math.floor(bytesMax / 4) });
  const newPermanentCache = () =>
    createPermanentCache({ bytesMax: Math.max(1, Math.ceil((bytesMax * 3) / 4)) });
  let headCache = newHeadCache();
  // Its identity stands for the chain: another epoch has another shelf.
  let permanentCache = newPermanentCache();
  const doorkeeper = createDoorkeeper();
  const counts = { head: newCounts(), forever: newCounts() };

  const stopListening = [
    upstream.onHead(() => {
      headCache = newHeadCache();
    }),
    upstream.onEpoch(() => {
      headCache = newHeadCache();
      permanentCache = newPermanentCache();
    }),
  ];

  function cacheFor({ about }: CallToForward, head: AnnouncedHead): AnswerCache {
    return about === "head" || about === head.number ? headCache : permanentCache;
  }

  function isCacheableCall({ rule, about = "open" }: CallToForward, head: AnnouncedHead): boolean {
    if (bytesMax === 0 || rule.cache === "never" || about === "open") return false;
    return typeof about !== "number" || about <= head.number;
  }

  function answer(
    call: CallToForward,
    { hash, head }: { hash: number; head: AnnouncedHead },
    options: AskOptions,
    settle: Settle,
  ): void {
    const shelf = cacheFor(call, head);
    const count = shelf === headCache ? counts.head : counts.forever;
    const known = options.isFresh ? undefined : shelf.find(hash, call);
    const asking = options.isFresh || known !== undefined ? undefined : shelf.inFlight.find(hash, call);
    if (known !== undefined) {
      count.hits += 1;
      options.note?.("hit");
      settle(known);
    } else if (asking !== undefined) {
      count.joins += 1;
      options.note?.("join");
      coalesce(call, { hash, asking }, options, settle);
    } else {
      count.misses += 1;
      options.note?.("miss");
      lead(call, { hash, shelf }, options, settle);
    }
  }

  /** Asks for everybody. The one closure here is all that a question costs that nobody else asks meanwhile. */
  function lead(
    call: CallToForward,
    { hash, shelf }: { hash: number; shelf: AnswerCache },
    options: AskOptions,
    settle: Settle,
  ): void {
    const chain = permanentCache;
    const asking = options.isFresh ? undefined : shelf.inFlight.open(hash, call);
    upstream.submit(call, options, (answer) => {
      if (asking !== undefined) shelf.inFlight.close(asking);
      const isWanted = asking === undefined || asking.waiters !== undefined;
      if (chain === permanentCache) keep(call, { hash, shelf, answer, isWanted });
      settle(answer);
      if (asking?.waiters !== undefined) for (const waiter of asking.waiters) waiter(answer);
    });
  }

  /** Keeps an answer where it belongs now: the head may have moved since `shelf` was the one for it. */
  function keep(
    call: CallToForward,
    {
      hash,
      shelf,
      answer,
      isWanted,
    }: { hash: number; shelf: AnswerCache; answer: UpstreamResult; isWanted: boolean },
  ): void {
    const head = upstream.head();
    if (head === undefined || !isCacheable(answer, call, head)) return;
    if (answer.afterId.length > entryBytesMax || (call.about === "head" && shelf !== headCache)) return;
    const home = cacheFor(call, head);
    if (!isWanted && home.entries() >= keptAtOnceMax && !doorkeeper.knows(hash)) return;
    home.keep(hash, {
      rule: call.rule,
      paramsText: detachedText(call.paramsText),
      answer: detachedCopy(answer),
    });
  }

  /**
   * Waits for somebody else's answer. Where it failed the question is asked once more, within this call's own time, and
   * again by one for all who waited; a stream has one reader, so that the others ask for themselves.
   */
  function coalesce(
    call: CallToForward,
    { hash, asking }: { hash: number; asking: InFlightRequest },
    options: AskOptions,
    settle: Settle,
  ): void {
    const startedMs = monotonicMs();
    wait(asking, (shared) => {
      const head = upstream.head();
      if (!isFailure(shared) || head === undefined) return share(shared);
      const shelf = cacheFor(call, head);
      const known = shelf.find(hash, call);
      if (known !== undefined) return settle(known);
      const other = shelf.inFlight.find(hash, call);
      if (other === undefined) lead(call, { hash, shelf }, withTimeLeft(), settle);
      else wait(other, share);
    });

    function share(shared: UpstreamResult): void {
      // That another key has too many calls on their way is nothing to this one.
      if (shared !== "crowded" && (typeof shared === "string" || !isStreamed(shared))) settle(shared);
      else upstream.submit(call, withTimeLeft(), settle);
    }

    function withTimeLeft(): AskOptions {
      return { ...options, timeoutMs: Math.max(0, call.rule.timeoutMs - (monotonicMs() - startedMs)) };
    }
  }

  return {
    submit(call, options, settle) {
      if (call.rule.name === "eth_blockNumber" && options.head !== undefined) {
        counts.head.hits += 1;
        options.note?.("hit");
        return settle(options.head.blockNumber);
      }
      const head = upstream.head();
      if (head === undefined || !isCacheableCall(call, head)) return forward(call, options, settle);
      if (call.paramsText.length > paramsCharsMax) return forward(call, options, settle);
      answer(call, { hash: hashCacheKey(call), head }, options, settle);
    },
    stats: () => ({
      head: { ...counts.head, entries: headCache.entries(), bytes: headCache.bytes() },
      forever: { ...counts.forever, entries: permanentCache.entries(), bytes: permanentCache.bytes() },
    }),
    stop() {
      for (const stop of stopListening) stop();
    },
  };

  function forward(call: CallToForward, options: CacheOptions, settle: Settle): void {
    options.note?.("miss");
    upstream.submit(call, options, settle);
  }
}

function isFailure(answer: UpstreamResult): boolean {
  return answer === "unavailable" || answer === "crowded";
}

function wait(asking: InFlightRequest, waiter: (answer: UpstreamResult) => void): void {
  if (asking.waiters === undefined) asking.waiters = [waiter];
  else asking.waiters.push(waiter);
}

type AskOptions = CacheOptions & { timeoutMs?: number };
type Settle = (answer: UpstreamResult) => void;

function newCounts() {
  return { hits: 0, misses: 0, joins: 0 };
}

/** Without the text of all answers of its array, which a slice of it keeps alive. */
function detachedCopy({ beforeId, afterId, isAscii, validator, wasAtHead }: WholeAnswer): WholeAnswer {
  return { beforeId, afterId: detachedText(afterId), isAscii, validator, wasAtHead };
}

/**
 * The same text apart from the longer one that it was cut from: a new text is joined of two pieces, and looking at its last
 * character has V8 write them into one (a third of what a copy by way of a Buffer costs).
 */
function detachedText(text: ByteText): ByteText {
  const joined = text.slice(0, -1) + text.slice(-1);
  return joined.charCodeAt(joined.length - 1) === text.charCodeAt(text.length - 1) ? joined : text;
}
