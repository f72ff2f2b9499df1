import { randomBytes } from "node:crypto";
import { performance } from "node:perf_hooks";
import type { Redis } from "ioredis";
import type { Logger } from "pino";
import { createAskQueue } from "./ask-queue.ts";
import {
  type Budget,
  type ChargeRequest,
  type ChargeResult,
  forgetRedis,
  isKnownRefused,
  leases,
} from "./budget.ts";
import { createBudgetStore, type RedisClock } from "./budget-store.ts";
import { createBudgets } from "./budgets.ts";
import { createChargeResults } from "./charge-results.ts";
import { countUse, runsLow, spend } from "./lease.ts";
import { createLeaseKeeper } from "./lease-keeper.ts";
import { createLimiterStats, type LimiterStats } from "./limiter-stats.ts";
import { createRedisHealth, type RedisHealth } from "./redis-health.ts";

/** Calls that wait for Redis at once: it answers or fails within the command timeout, so this bounds a burst. */
const waitingCallsMax = 50_000;
const retryWhenFullMs = 1000;

export type Limiter = {
  /**
   * Charges the calls of one body, in order. Each is judged alone: one that does not fit is refused and takes nothing, a
   * cheaper one after it may still fit, exactly as if they had come one by one. Answers at once where the points
   * are in memory (or Redis is known to be away), else with a promise, which never rejects and settles within the
   * command timeout of the Redis client.
   */
  charge(request: ChargeRequest): ChargeResult | Promise<ChargeResult>;
  /** With a reason: counts as if Redis did not answer, and drops all leases, until it is called without one. */
  hold(reason: string | undefined): void;
  state(): ReturnType<RedisHealth["state"]>;
  stats(): Readonly<LimiterStats>;
  keysWithLease(): number;
  /** Gives back all leases and waits for the answers. Nothing may be charged afterwards. */
  stop(): Promise<void>;
};

/**
 * The limits of all keys, exact over any number of processes (design.md, "Limits: leases"): fixed windows by
 * Redis's clock, counted in Redis; small limits ask it for each call (those of one key and one turn of the event loop
 * together), large ones take points in advance.
 *
 * Why it is never more than the limit: a call is admitted only against a point that a script has taken from the window's
 * counter before, and a point is used at most once and only while its window lasts. A process that dies, an answer
 * that is lost, a give-back that is not carried out: each leaves points taken and unused, for this window.
 *
 * The exception is product.md's: while Redis does not answer, each process admits up to a tenth by itself.
 */
export function createLimiter({
  redis,
  logger,
  now = Date.now,
  monotonicMs = () => performance.now(),
  processId = randomBytes(6).toString("base64url"),
  windowMs = 60_000,
  redisClock = "redis",
  leaseIdleMs = 100,
  probeIntervalMs = 250,
}: {
  /** Made by `createRedisClient`: what it promises about timeouts and repeated commands is needed here. */
  redis: Redis;
  logger: Pick<Logger, "info" | "warn">;
  /** Wall clock: for logs and `state()`, and for the windows only where `redisClock` is "caller". */
  now?: () => number;
  monotonicMs?: () => number;
  processId?: string;
  windowMs?: number;
  redisClock?: RedisClock;
  leaseIdleMs?: number;
  probeIntervalMs?: number;
}): Limiter {
  const store = createBudgetStore({ redis, processId, windowMs, redisClock, now });
  const stats = createLimiterStats();
  const probe = () => {
    stats.commands.probe += 1;
    return store.probe();
  };
  const health = createRedisHealth({ redis, probe, probeIntervalMs, now, logger });
  const keeper = createLeaseKeeper({ store, health, stats, monotonicMs, leaseIdleMs });
  const queue = createAskQueue({ store, health, keeper, stats, monotonicMs });
  const { chargeLocally, refuse, describe } = createChargeResults({ stats, windowMs });
  const budgetOf = createBudgets({
    epoch: health.epoch,
    onDropped: (budget) => void keeper.giveBack(budget),
  });

  return {
    charge,
    hold: health.hold,
    state: health.state,
    stats: () => stats,
    keysWithLease: keeper.held,
    async stop() {
      await queue.settled();
      await keeper.stop();
      health.stop();
    },
  };

  function charge(request: ChargeRequest): ChargeResult | Promise<ChargeResult> {
    const nowMs = monotonicMs();
    const { costs } = request;
    const budget = budgetOf(request);
    const admitted: boolean[] = [];
    if (!health.answers()) return chargeLocally(budget, costs, admitted, nowMs);
    if (budget.epoch !== health.epoch()) forgetRedis(budget, health.epoch());

    if (leases(budget)) {
      chargeLease(budget, costs, admitted, nowMs);
      if (admitted.length === costs.length) return describe(budget, admitted, nowMs);
    }
    const calls = costs.length - admitted.length;
    if (isKnownRefused(budget, costs, admitted.length, nowMs)) {
      stats.calls.refusal += calls;
      return refuse(budget, costs, admitted, budget.retryMs - nowMs);
    }
    if (queue.waitingCalls() + calls > waitingCallsMax) {
      stats.calls.full += calls;
      return refuse(budget, costs, admitted, retryWhenFullMs);
    }
    stats.calls.redis += calls;
    return new Promise((resolve) => {
      queue.add(budget, {
        costs,
        admitted,
        decide: () => resolve(describe(budget, admitted, monotonicMs())),
        fail: () => resolve(chargeLocally(budget, costs, admitted, monotonicMs())),
      });
    });
  }

  /** Pays for the first calls from points held, as far as they reach. */
  function chargeLease(budget: Budget, costs: readonly number[], admitted: boolean[], nowMs: number): void {
    const { lease } = budget;
    let points = 0;
    for (const cost of costs) points += cost;
    while (admitted.length < costs.length && spend(lease, costs[admitted.length] ?? 0, nowMs))
      admitted.push(true);
    countUse(budget.meter, points, nowMs);
    lease.usedAtMs = nowMs;
    stats.calls.lease += admitted.length;
    if (runsLow(lease, nowMs)) queue.wantLease(budget);
  }
}
