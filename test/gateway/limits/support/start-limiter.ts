import type { ChargeRequest, ChargeResult } from "../../../../gateway/limits/budget.ts";
import { createLimiter, type Limiter } from "../../../../gateway/limits/limiter.ts";
import { createRedisClient, type RedisClient, waitForRedis } from "../../../../lib/redis/redis-client.ts";
import { asUser } from "../../../helpers/redis.ts";

const logger = { info: () => {}, warn: () => {} };

export type Counted = { admitted: number; refused: number; degraded: number };

/** A busy machine is no fault of Redis: with the 250 ms of a gateway a limiter would count by itself for a moment. */
const patientMs = 5000;

/** A Redis client with no log. */
export function connectRedis(url: string, commandTimeoutMs = patientMs): RedisClient {
  return createRedisClient({
    url: asUser(url, "gateway"),
    name: "test",
    logger,
    commandTimeoutMs,
    reconnectDelayMaxMs: 100,
  });
}

/** A limiter as a gateway process has one, once Redis answers. `stop` ends its connection too. */
export async function startLimiter({
  url,
  clock,
  windowMs = 60_000,
  commandTimeoutMs = patientMs,
  wallSkewMs = 0,
}: {
  url: string;
  /** Milliseconds by which windows go, in place of Redis's clock and this process's. */
  clock?: (() => number) | undefined;
  windowMs?: number;
  commandTimeoutMs?: number;
  wallSkewMs?: number;
}): Promise<{ limiter: Limiter; redis: RedisClient; stop(): Promise<void> }> {
  const redis = connectRedis(url, commandTimeoutMs);
  await waitForRedis({ redis, logger });
  const limiter = createLimiter({
    redis,
    logger,
    windowMs,
    probeIntervalMs: 50,
    ...(clock === undefined
      ? { now: () => Date.now() + wallSkewMs }
      : { now: clock, monotonicMs: clock, redisClock: "caller" }),
  });
  return {
    limiter,
    redis,
    async stop() {
      await limiter.stop();
      redis.disconnect();
    },
  };
}

/** `calls` single calls at once. */
export async function chargeAtOnce(
  limiter: Limiter,
  request: Omit<ChargeRequest, "costs">,
  calls: number,
): Promise<Counted> {
  const results = await Promise.all(
    Array.from({ length: calls }, () => limiter.charge({ ...request, costs: [1] })),
  );
  return count(results);
}

export function count(results: readonly ChargeResult[]): Counted {
  const calls = results.flatMap(({ admitted, degraded }) => admitted.map((one) => ({ one, degraded })));
  return {
    admitted: calls.filter(({ one }) => one).length,
    refused: calls.filter(({ one }) => !one).length,
    degraded: calls.filter(({ degraded }) => degraded).length,
  };
}
