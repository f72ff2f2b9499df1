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
    try {
      return admitted({ taken: await alone.consume(counter, cost), limit: alonePoints, windowSeconds });
    } catch (refused) {
      return refusedBy({ refused, limit: alonePoints, windowSeconds });
    }
  }

  return {
    async charge(client, cost) {
      try {
        const taken = await shared.consume(client, cost);
        problem = undefined;
        return admitted({ taken, limit: points, windowSeconds });
      } catch (refused) {
        if (refused instanceof RateLimiterRes) return refusedBy({ refused, limit: points, windowSeconds });
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

type Window = { limit: number; windowSeconds: number };

function admitted({ taken, limit, windowSeconds }: Window & { taken: RateLimiterRes }): Standing {
  const remaining = Math.max(0, limit - taken.consumedPoints);
  return { allowed: true, limit, remaining, windowSeconds, resetMs: Math.max(0, taken.msBeforeNext) };
}

/** What the library throws for a client over its limit. It counts no points of one that it blocks from memory. */
function refusedBy({ refused, limit, windowSeconds }: Window & { refused: unknown }): Standing {
  const resetMs =
    refused instanceof RateLimiterRes ? Math.max(0, refused.msBeforeNext) : windowSeconds * 1000;
  return { allowed: false, limit, remaining: 0, windowSeconds, resetMs };
}

/** FNV-1a: spreads clients over the counters. */
function hashOf(text: string): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < text.length; at += 1) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193) >>> 0;
  return hash;
}
