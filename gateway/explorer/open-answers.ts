import type { FoundKey } from "../../lib/keys/key-reader.ts";
import { type Refusal, refusal } from "../json-rpc/refusal.ts";

export type EndReason = "key ended" | "stopping";

/** The place of one answer of the explorer, from before the API is asked until the browser has all of it. */
export type OpenAnswer = {
  /** Why it should be over. */
  ended: EndReason | undefined;
  /** Set by who passes the answer on: called when it should be over. */
  end: (why: EndReason) => void;
  leave(): void;
};

export type OpenAnswers = {
  take(key: Pick<FoundKey, "id" | "hash">): OpenAnswer | Refusal;
  count(): number;
  /** Ends what would go on for ever, and takes no more. */
  stop(): void;
};

/** Well within the second after which a revoked key must open nothing. */
const keyCheckEveryMs = 400;

type OfKey = { hash: string; open: Set<OpenAnswer> };

/** Counts the explorer's answers that are open at once, of each key and of the process, and ends those of revoked keys. */
export function createOpenAnswers({
  openMax,
  openPerKeyMax,
  isKeyOver,
}: {
  openMax: number;
  openPerKeyMax: number;
  /** Whether the key of this SHA-256 was revoked or has expired. Nearly always known from memory. Never rejects. */
  isKeyOver: (keyHash: string) => Promise<boolean>;
}): OpenAnswers {
  const byKey = new Map<string, OfKey>();
  let count = 0;
  let isStopping = false;

  const checking = setInterval(() => {
    for (const ofKey of byKey.values()) void check(ofKey);
  }, keyCheckEveryMs);
  checking.unref();

  async function check({ hash, open }: OfKey): Promise<void> {
    if (await isKeyOver(hash)) endAll(open, "key ended");
  }

  return {
    take({ id, hash }) {
      if (isStopping) return stopping;
      const ofKey = byKey.get(id) ?? { hash, open: new Set() };
      if (ofKey.open.size >= openPerKeyMax) return tooManyOfKey(openPerKeyMax);
      if (count >= openMax) return tooMany;
      const answer: OpenAnswer = {
        ended: undefined,
        end: () => {},
        leave() {
          if (!ofKey.open.delete(answer)) return;
          count -= 1;
          if (ofKey.open.size === 0) byKey.delete(id);
        },
      };
      count += 1;
      ofKey.open.add(answer);
      byKey.set(id, ofKey);
      return answer;
    },
    count: () => count,
    stop() {
      isStopping = true;
      clearInterval(checking);
      for (const { open } of [...byKey.values()]) endAll(open, "stopping");
    },
  };
}

function endAll(open: ReadonlySet<OpenAnswer>, why: EndReason): void {
  for (const answer of [...open]) {
    answer.ended = why;
    answer.end(why);
  }
}

function tooManyOfKey(openPerKeyMax: number): Refusal {
  return refusal(
    "rate_limited",
    `At most ${openPerKeyMax} answers of the explorer are open at once for an API key: close some of its pages`,
    { data: { retryAfterMs: 1000 }, headers: { "Retry-After": "1" } },
  );
}

const tooMany = refusal("service_unavailable", "Too many pages of the explorer are open; try again shortly", {
  headers: { "Retry-After": "5" },
});

const stopping = refusal("service_unavailable", "The gateway is stopping; load the page again", {
  headers: { "Retry-After": "1" },
});
