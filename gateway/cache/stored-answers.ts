import type { ByteText } from "../json-rpc/answer.ts";
import type { CallToForward } from "../methods/call.ts";
import type { AnnouncedHead } from "../upstream/announced-head.ts";
import type { Upstream } from "../upstream/upstream.ts";
import type { UpstreamResult, WholeAnswer } from "../upstream/upstream-result.ts";
import { isCacheable } from "./cacheable.ts";
import { createDoorkeeper } from "./doorkeeper.ts";
import type { AnswerCache } from "./entry.ts";
import { createHeadCache } from "./head-cache.ts";
import { createPermanentCache } from "./permanent-cache.ts";

/**
 * Up to here a cache takes every answer, then only those that are asked for a second time. An answer that nobody asks for
 * again costs more to keep than to fetch (DECISIONS.md): the garbage collector carries it from generation to generation.
 */
const keptUnseenMax = 4096;

/** The head cache and the permanent cache of the chain as it is now. */
export function createStoredAnswers({
  upstream,
  settings: { bytesMax, entryBytesMax },
}: {
  upstream: Pick<Upstream, "head" | "onHead" | "onEpoch">;
  settings: { bytesMax: number; entryBytesMax: number };
}) {
  // Answers that hold for one block only are worth less room than those that never change.
  const newHeadCache = () => createHeadCache({ bytesMax: Math.floor(bytesMax / 4) });
  const newPermanentCache = () =>
    createPermanentCache({ bytesMax: Math.max(1, Math.ceil((bytesMax * 3) / 4)) });
  let headCache = newHeadCache();
  let permanentCache = newPermanentCache();
  const doorkeeper = createDoorkeeper();

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

  return {
    cacheFor,
    /** Each epoch has a cache of its own, so this one also tells whether it is still the same chain. */
    permanent: () => permanentCache,
    isHeadCache: (cache: AnswerCache) => cache === headCache,

    /** Whether the answer to this call may be cached at all. */
    concerns({ rule, about = "open" }: CallToForward, head: AnnouncedHead): boolean {
      if (bytesMax === 0 || rule.cache === "never" || about === "open") return false;
      return typeof about !== "number" || about <= head.number;
    },

    /**
     * Puts an answer into the cache where it belongs now: the head may have moved since `cache` was the right one.
     * `isWanted`: it is known that somebody else asks for it too.
     */
    keep(
      call: CallToForward,
      {
        hash,
        cache,
        answer,
        isWanted,
      }: { hash: number; cache: AnswerCache; answer: UpstreamResult; isWanted: boolean },
    ): void {
      const head = upstream.head();
      if (head === undefined || !isCacheable(answer, call, head)) return;
      if (answer.afterId.length > entryBytesMax || (call.about === "head" && cache !== headCache)) return;
      const home = cacheFor(call, head);
      if (!isWanted && home.entries() >= keptUnseenMax && !doorkeeper.knows(hash)) return;
      const { rule, paramsText } = call;
      home.keep(hash, { rule, paramsText: detachedText(paramsText), answer: detachedCopy(answer) });
    },

    sizes: () => ({
      head: { entries: headCache.entries(), bytes: headCache.bytes() },
      forever: { entries: permanentCache.entries(), bytes: permanentCache.bytes() },
    }),
    stop() {
      for (const stop of stopListening) stop();
    },
  };
}

/** An answer that shares no memory with the text of its array. A slice would keep all of that alive. */
function detachedCopy({ beforeId, afterId, isAscii, validator, wasAtHead }: WholeAnswer): WholeAnswer {
  return { beforeId, afterId: detachedText(afterId), isAscii, validator, wasAtHead };
}

/**
 * The same text apart from the longer one that it is a slice of. Two pieces make a new text, and reading its last
 * character has V8 write them into one: a third of the cost of a copy through a Buffer.
 */
function detachedText(text: ByteText): ByteText {
  const joined = text.slice(0, -1) + text.slice(-1);
  return joined.charCodeAt(joined.length - 1) === text.charCodeAt(text.length - 1) ? joined : text;
}
