import type { Redis } from "ioredis";
import { RateLimiterMemory, RateLimiterRedis, RateLimiterRes } from "rate-limiter-flexible";

export type Standing = {
  allowed: boolean;
  limit: number;
  remaining: number;
  windowSeconds: number;
  /** Until the window ends. */
  resetMs: number;
};

export type RequestLimiter = {
  /** Takes `cost` points of a client's window. Never rejects. */
  charge(client: string, cost: number): Promise<Standing>;
  /** Gives back what a request cost that turned out to cost nothing (304). */
  refund(client: string, cost: number): void;
  /** Why limits are counted by this process alone, with a tenth. */
  problem(): string | undefined;
};

/** While Redis is away, addresses share so many counters, so that a flood from many addresses holds no more memory. */
const countersWithoutRedis = 4096;
const shareWithoutRedis = 10;

/**
 * The limit of requests a minute by client, counted in Redis and so exact over any number of processes: a fixed window
 * that starts with the first charge, by Redis's clock. While Redis is away each process counts by itself, and a client
 * has a tenth there.
 */
export function createRequestLimiter({
  redis,
  keyPrefix,
  points,
  windowSeconds,
}: {
  redis: Redis;
  keyPrefix: string;
  points: number;
  windowSeconds: number;
}): RequestLimiter {
  const shared = new RateLimiterRedis({
    storeClient: redis,
    keyPrefix,
    points,
    duration: windowSeconds,
    rejectIfRedisNotReady: true,
    // A client over its limit costs Redis nothing until its window ends.
    inMemoryBlockOnConsumed: points,
  });
  const alonePoints = Math.max(1, Math.floor(points / shareWithoutRedis));
  const alone = new RateLimiterMemory({ points: alonePoints, duration: windowSeconds });
  let problem: string | undefined;

  async function chargeAlone(client: string, cost: number): Promise<Standing> {
    const counter = String(hashOf(client) % countersWithoutRedis);
    const taken = await alone.consume(counter, cost).catch((refused: unknown) => refused);
    return standingOf({ taken, limit: alonePoints, windowSeconds });
  }

  return {
    async charge(client, cost) {
      try {
        const taken = await shared.consume(client, cost);
        problem = undefined;
        return standingOf({ taken, limit: points, windowSeconds });
      } catch (refused) {
        if (refused instanceof RateLimiterRes)
          return standingOf({ taken: refused, limit: points, windowSeconds });
        problem = "Redis does not answer: each process counts requests by itself";
        return chargeAlone(client, cost);
      }
    },
    refund(client, cost) {
      // A refund that is lost makes the limit stricter, never looser.
      shared.reward(client, cost).catch(() => {});
    },
    problem: () => problem,
  };
}

function standingOf({
  taken,
  limit,
  windowSeconds,
}: {
  taken: unknown;
  limit: number;
  windowSeconds: number;
}): Standing {
  if (!(taken instanceof RateLimiterRes)) {
    return { allowed: false, limit, remaining: 0, windowSeconds, resetMs: windowSeconds * 1000 };
  }
  return {
    allowed: taken.consumedPoints <= limit,
    limit,
    remaining: Math.max(0, limit - taken.consumedPoints),
    windowSeconds,
    resetMs: Math.max(0, taken.msBeforeNext),
  };
}

/** FNV-1a: spreads clients over the counters. */
function hashOf(text: string): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < text.length; at += 1) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193) >>> 0;
  return hash;
}
