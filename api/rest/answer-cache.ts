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

/**
 * Finished answers by URL, bounded by bytes. Those that are true for one head are made once for everybody who asks while
 * it is the newest; those of the chain's past stay until others push them out. Equal questions that come while an
 * answer is being made get the same one.
 */
export function createAnswerCache({
  bytesMax,
  canBeImmutable,
}: {
  bytesMax: number;
  /** False on a development chain, where a number can come again with another block. */
  canBeImmutable: () => boolean;
}): AnswerCache {
  const byBytes = {
    maxSize: bytesMax,
    sizeCalculation: ({ body }: FinishedAnswer, url: string) => body.length + url.length + bytesBeside,
  };
  const past = new LRUCache<string, FinishedAnswer>(byBytes);
  const ofHead = new LRUCache<string, FinishedAnswer>(byBytes);
  const making = new Map<string, Promise<FinishedAnswer | Refusal>>();
  let headVersion = 0;

  async function makeOne(url: string, make: () => Promise<RouteAnswer>): Promise<FinishedAnswer | Refusal> {
    const version = headVersion;
    const made = await make();
    if (isRefusal(made)) return made;
    const finished = finish(made);
    if (finished.cache === "immutable" && canBeImmutable()) past.set(url, finished);
    // Made for a head that is not the newest any more: whoever asked gets it, nobody else.
    else if (finished.cache !== "none" && version === headVersion) ofHead.set(url, finished);
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
  };
}
