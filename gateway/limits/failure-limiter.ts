import { performance } from "node:perf_hooks";
import { crc32 } from "node:zlib";
import { LRUCache } from "lru-cache";
import { RateLimiterMemory, RateLimiterRedis, RateLimiterRes } from "rate-limiter-flexible";
import { limitAddress } from "../../lib/http-service/client-address.ts";
import { failuresKeyPrefix } from "../../lib/redis/keys/gateway.ts";
import type { RedisClient } from "../../lib/redis/redis-client.ts";
import { createRate } from "./rate.ts";

/** How many blocked addresses are remembered. Redis is asked again about the one that was not seen for longest. */
const blockedMax = 20_000;
/** While Redis is away or busy, addresses share this many counters, so a flood from many addresses takes no more memory. */
const insuranceCounters = 4096;

export type FailureLimiter = {
  /**
   * Milliseconds until this address may fail again, 0 where it may. From memory only. Ask it about keys that are
   * *not known*, after looking them up: a known key is never refused because of others at its address.
   */
  blockedForMs(address: string): number;
  /**
   * Counts a request with an unknown key. Returns what `blockedForMs` returns from now on. Does not ask Redis while
   * the address is blocked. Never rejects.
   */
  countFailure(address: string): Promise<number>;
  /** From now on an address may fail so often. */
  allow(points: number): void;
};

/**
 * Limits failed keys by client address (IPv6 by its /64): after `points` failures within `durationSeconds` an address
 * is blocked until that time is over, in this process at once, in others with its next failure there. Addresses are
 * those of `ClientAddress.of`.
 *
 * Without Redis, and beyond `sharedPerSecondMax`, each process counts alone, so an address gets `points` failures from
 * each of them, and shares them with few others.
 */
export function createFailureLimiter({
  redis,
  points,
  durationSeconds,
  sharedPerSecondMax = 1_000_000,
  monotonicMs = () => performance.now(),
}: {
  redis: RedisClient;
  points: number;
  durationSeconds: number;
  /** Failures that this process counts in Redis; more are counted by this process alone. */
  sharedPerSecondMax?: number;
  monotonicMs?: () => number;
}): FailureLimiter {
  const shared = new RateLimiterRedis({
    storeClient: redis,
    keyPrefix: failuresKeyPrefix,
    points,
    duration: durationSeconds,
    rejectIfRedisNotReady: true,
  });
  // Not the library's `insuranceLimiter`: it keeps a timer and a record for each address, without a bound.
  const insurance = new RateLimiterMemory({ points, duration: durationSeconds });
  const sharing = createRate({ perSecondMax: sharedPerSecondMax, monotonicMs });
  const blockedUntilMs = new LRUCache<string, number>({ max: blockedMax });

  function blockedForMs(address: string): number {
    return Math.max(0, (blockedUntilMs.get(limitAddress(address)) ?? 0) - monotonicMs());
  }

  return {
    blockedForMs,
    allow(points) {
      shared.points = points;
      insurance.points = points;
    },
    async countFailure(address) {
      const blockedMs = blockedForMs(address);
      if (blockedMs > 0) return blockedMs;
      const counted = limitAddress(address);
      const counter = `counter-${crc32(counted) % insuranceCounters}`;
      const inRedis = sharing.take() ? await consume(shared, counted) : undefined;
      const state = inRedis ?? (await consume(insurance, counter));
      if (state === undefined || state.remainingPoints > 0) return 0;
      blockedUntilMs.set(counted, monotonicMs() + state.msBeforeNext);
      return blockedForMs(address);
    },
  };
}

/** The counter after this failure; `undefined` where the store did not answer. */
async function consume(
  limiter: RateLimiterRedis | RateLimiterMemory,
  key: string,
): Promise<RateLimiterRes | undefined> {
  try {
    return await limiter.consume(key);
  } catch (refusal) {
    // The library rejects with the counter where the points are used up, and with an Error where the store failed.
    return refusal instanceof RateLimiterRes ? refusal : undefined;
  }
}
