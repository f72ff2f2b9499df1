import { LRUCache } from "lru-cache";
import { isRefusal, type Refusal } from "../../lib/http-service/refusal.ts";
import { etagOf } from "./etag.ts";
import type { CacheRule, RouteAnswer } from "./route.ts";

/** A finished answer: its bytes and what is said of them. */
export type FinishedAnswer = {
  body: Buffer;
  type: string;
  etag: string;
  cache: CacheRule;
  fileName: string | undefined;
  /** 200 but for pages: theirs can be an error's, or lead elsewhere (`location`). */
  status: number;
  location: string | undefined;
};

export type AnswerCache = {
  /** The answer for this URL, where it is in memory. */
  peek(url: string): FinishedAnswer | undefined;
  /** The answer for this URL: from memory, from one that is being made, or made now. */
  answer(url: string, make: () => Promise<RouteAnswer>): Promise<FinishedAnswer | Refusal>;
  /** The head has moved, or the index: what was true for the newest block only is forgotten. */
  headMoved(): void;
  /** The chain is another one: everything is forgotten. */
  chainChanged(): void;
  bytes(): number;
};

const jsonType = "application/json; charset=utf-8";
/** Beside its body an answer holds its URL, tag and place in the list. */
const bytesBeside = 500;

/** Names and decoding of a mined transaction may grow: it is made anew as often as clients are told to ask again. */
export const minedForMs = 60_000;
/**
 * What is true for the newest block is made anew also while no block comes: that the chain is stalled shows by the clock,
 * and so does a chain that is away.
 */
const ofHeadForMs = 5000;

/**
 * Finished answers by URL, bounded by bytes. Those that are true for one head are made once for everybody who asks while
 * it is the newest; those of the chain's past stay until others push them out. Equal questions that come while an
 * answer is being made get the same one.
 */
export function createAnswerCache({
  bytesMax,
  canBeImmutable,
  headForMs = ofHeadForMs,
}: {
  /** Of which half is for the past, and half for the head. */
  bytesMax: number;
  /** False on a development chain, where a number can come again with another block. */
  canBeImmutable: () => boolean;
  headForMs?: number;
}): AnswerCache {
  const byBytes = {
    maxSize: Math.max(1, Math.floor(bytesMax / 2)),
    sizeCalculation: ({ body }: FinishedAnswer, url: string) => body.length + url.length + bytesBeside,
  };
  const past = new LRUCache<string, FinishedAnswer>(byBytes);
  const ofHead = new LRUCache<string, FinishedAnswer>({ ...byBytes, ttl: headForMs });
  const making = new Map<string, Promise<FinishedAnswer | Refusal>>();
  let headVersion = 0;
  let chainVersion = 0;

  async function makeOne(url: string, make: () => Promise<RouteAnswer>): Promise<FinishedAnswer | Refusal> {
    const [head, chain] = [headVersion, chainVersion];
    const made = await make();
    if (isRefusal(made)) return made;
    const finished = finish(made);
    const { cache } = finished;
    // Made for a chain or a head that is not the newest any more: whoever asked gets it, nobody else.
    if ((cache === "immutable" || cache === "mined") && canBeImmutable()) {
      if (chain === chainVersion) past.set(url, finished, cache === "mined" ? { ttl: minedForMs } : {});
    } else if (head === headVersion) ofHead.set(url, finished);
    return finished;
  }

  const peek = (url: string) => past.get(url) ?? ofHead.get(url);

  return {
    peek,
    async answer(url, make) {
      const known = peek(url);
      if (known !== undefined) return known;
      const key = `${headVersion} ${url}`;
      const running = making.get(key);
      if (running !== undefined) return running;
      const started = makeOne(url, make).finally(() => making.delete(key));
      making.set(key, started);
      return started;
    },
    headMoved() {
      headVersion += 1;
      ofHead.clear();
    },
    chainChanged() {
      headVersion += 1;
      chainVersion += 1;
      ofHead.clear();
      past.clear();
    },
    bytes: () => past.calculatedSize + ofHead.calculatedSize,
  };
}

function finish(made: Exclude<RouteAnswer, Refusal>): FinishedAnswer {
  const body = Buffer.from("text" in made ? made.text : JSON.stringify(made.record));
  return {
    body,
    etag: etagOf(body),
    type: "text" in made ? made.type : jsonType,
    cache: made.cache,
    fileName: "text" in made ? made.fileName : undefined,
    status: ("text" in made ? made.status : undefined) ?? 200,
    location: "text" in made ? made.location : undefined,
  };
}
