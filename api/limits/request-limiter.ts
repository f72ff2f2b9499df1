import { LRUCache } from "lru-cache";
import { RateLimiterMemory, RateLimiterRes } from "rate-limiter-flexible";
import { apiRequestsKey } from "../../lib/redis/keys/api.ts";
import type { RedisClient } from "../../lib/redis/redis-client.ts";
import { isRedisFailure } from "../../lib/redis/redis-failure.ts";
import { runScript } from "../../lib/redis/run-script.ts";
import { chargeScript, refundScript } from "./charge-scripts.ts";
import { chargeTogether } from "./charge-together.ts";

export type Standing = {
  allowed: boolean;
  limit: number;
  remaining: number;
  windowSeconds: number;
  /** Until the window ends. */
  resetMs: number;
};

export type ChargedRequest = {
  standing: Standing;
  /** Gives back what a request cost that turned out to cost nothing (304). */
  refund(): void;
};

export type RequestLimiter = {
  /** Takes `cost` points of a client's window, or none where it has not so many left. Never rejects. */
  charge(client: string, cost: number): Promise<ChargedRequest>;
  /** That limits are counted by this process alone, with a tenth: for a window at most, where nobody asks any more. */
  problem(): string | undefined;
};

/** What a client has in a process that counts alone. */
function aloneOf(points: number): number {
  return Math.max(1, Math.floor(points / shareWithoutRedis));
}

/** While Redis is away, addresses share so many counters, so that a flood from many addresses holds no more memory. */
const countersWithoutRedis = 4096;
const shareWithoutRedis = 10;
/** Clients that have used up their window cost Redis nothing until it ends; of so many this is remembered. */
const spentClientsMax = 10_000;

/**
 * The limit of requests a minute by client, counted in Redis and so exact over any number of processes: a fixed window
 * that starts with the first charge, by Redis's clock. While Redis is away each process counts by itself, and a client
 * has a tenth there.
 */
export function createRequestLimiter({
  redis,
  points: pointsNow,
  windowSeconds,
  monotonicMs = () => performance.now(),
}: {
  redis: RedisClient;
  /** Of a client in a window, asked for each time: the limit may change. */
  points: () => number;
  windowSeconds: number;
  monotonicMs?: () => number;
}): RequestLimiter {
  let points = pointsNow();
  let alonePoints = aloneOf(points);
  const alone = new RateLimiterMemory({ points: alonePoints, duration: windowSeconds });
  /** When a client's window ends. */
  const spentUntilMs = new LRUCache<string, number>({ max: spentClientsMax });
  let aloneUntilMs = 0;

  const chargeInRedis = chargeTogether((client, costs) =>
    runScript({
      redis,
      script: chargeScript,
      keys: [apiRequestsKey(client)],
      args: [points, windowSeconds * 1000, ...costs],
    }),
  );

  async function chargeShared(client: string, cost: number): Promise<ChargedRequest> {
    const endsAtMs = spentUntilMs.get(client) ?? 0;
    const waitMs = endsAtMs - monotonicMs();
    if (waitMs > 0) return { standing: standingOf(false, 0, waitMs), refund() {} };
    if (redis.status !== "ready") throw new RedisAwayError();
    const { taken, used, resetMs } = await chargeInRedis(client, cost);
    const chargedAtMs = monotonicMs();
    if (!taken && used >= points) spentUntilMs.set(client, chargedAtMs + resetMs);
    return {
      standing: standingOf(taken, points - used, resetMs),
      refund() {
        const leftMs = Math.ceil(chargedAtMs + resetMs - monotonicMs());
        if (leftMs <= 0) return;
        spentUntilMs.delete(client);
        // A refund that is lost makes the limit stricter, never looser.
        runScript({
          redis,
          script: refundScript,
          keys: [apiRequestsKey(client)],
          args: [cost, leftMs],
        }).catch(() => {});
      },
    };
  }

  function standingOf(allowed: boolean, remaining: number, resetMs: number): Standing {
    return { allowed, limit: points, remaining: Math.max(0, remaining), windowSeconds, resetMs };
  }

  async function chargeAlone(client: string, cost: number): Promise<ChargedRequest> {
    const counter = String(hashOf(client) % countersWithoutRedis);
    const limit = { limit: alonePoints, windowSeconds };
    // What costs more than there is would never be possible.
    const points = Math.min(cost, alonePoints);
    try {
      const { consumedPoints, msBeforeNext } = await alone.consume(counter, points);
      const remaining = Math.max(0, alonePoints - consumedPoints);
      const resetMs = Math.max(0, msBeforeNext);
      const endsAtMs = monotonicMs() + resetMs;
      return {
        standing: { ...limit, allowed: true, remaining, resetMs },
        refund() {
          if (monotonicMs() < endsAtMs) void alone.reward(counter, points);
        },
      };
    } catch (refused) {
      const resetMs =
        refused instanceof RateLimiterRes ? Math.max(0, refused.msBeforeNext) : windowSeconds * 1000;
      return { standing: { ...limit, allowed: false, remaining: 0, resetMs }, refund() {} };
    }
  }

  function followLimit(): void {
    const next = pointsNow();
    if (next === points) return;
    points = next;
    alonePoints = aloneOf(next);
    alone.points = alonePoints;
    // Who had used up its window may have more of it now.
    spentUntilMs.clear();
  }

  return {
    async charge(client, cost) {
      followLimit();
      try {
        const charged = await chargeShared(client, cost);
        aloneUntilMs = 0;
        return charged;
      } catch (error) {
        if (!(error instanceof RedisAwayError) && !isRedisFailure(error)) throw error;
        aloneUntilMs = monotonicMs() + windowSeconds * 1000;
        return chargeAlone(client, cost);
      }
    },
    problem: () =>
      monotonicMs() < aloneUntilMs
        ? "Redis does not answer: this process counts requests by itself"
        : undefined,
  };
}

class RedisAwayError extends Error {
  override readonly name = "RedisAwayError";
}

/** FNV-1a: spreads clients over the counters. */
function hashOf(text: string): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < text.length; at += 1) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193) >>> 0;
  return hash;
}
