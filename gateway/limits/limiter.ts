import { randomBytes } from "node:crypto";
import { performance } from "node:perf_hooks";
import type { Logger } from "pino";
import type { RedisClient } from "../../lib/redis/redis-client.ts";
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
import type { RedisHealth } from "./redis-health.ts";
import { createShardHealth } from "./shard-health.ts";

/** Calls that wait for Redis at once: it answers or fails within the command timeout, so this bounds a burst. */
const waitingCallsMax = 50_000;
const retryWhenFullMs = 1000;

export type Limiter = {
  /**
   * Charges the calls of one body, in order. Each is judged alone, as if they had come one by one: one that does not fit is
   * refused and takes nothing, and a cheaper one after it may still fit. Answers at once where the points
   * are in memory (or Redis is known to be away), else with a promise, which never rejects and settles within the
   * command timeout of the Redis client.
   */
  charge(request: ChargeRequest): ChargeResult | Promise<ChargeResult>;
  /** With a reason: acts as if Redis did not answer, and drops all leases, until it is called without a reason. */
  hold(reason: string | undefined): void;
  state(): ReturnType<RedisHealth["state"]>;
  stats(): Readonly<LimiterStats>;
  keysWithLease(): number;
  /** Gives back all leases and waits for the answers. Nothing may be charged afterwards. */
  stop(): Promise<void>;
};

/**
 * The limits of all keys, exact over any number of processes. Windows are fixed, by Redis's clock, and counted in Redis.
 * Keys with small limits ask Redis for each call (the calls of one key in one turn of the event loop together). Keys with
 * large limits take points in advance (leases).
 *
 * Why never more than the limit is admitted: a script takes a point from the window's counter before a call is admitted
 * against it, and a point is used at most once and only while its window lasts. If a process dies, an answer is lost or a
 * give-back fails, points stay taken and unused for this window.
 *
 * There is one exception: while Redis does not answer, each process admits up to a tenth of the limit by itself.
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
  /** Made by `createRedisClient`: the limiter relies on its timeouts, and on commands that are not repeated. */
  redis: RedisClient;
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
  const probe = (team: string) => {
    stats.commands.probe += 1;
    return store.probe(team);
  };
  const shards = createShardHealth({ redis, probe, probeIntervalMs, now, logger });
  const keeper = createLeaseKeeper({ store, shards, stats, monotonicMs, leaseIdleMs });
  const queue = createAskQueue({ store, shards, keeper, stats, monotonicMs });
  const { chargeLocally, refuse, describe } = createChargeResults({ stats, windowMs });
  const budgetOf = createBudgets({
    outage: (team) => shards.of(team).outage(),
    onDropped: (budget) => void keeper.giveBack(budget),
  });

  return {
    charge,
    hold: shards.hold,
    state: shards.state,
    stats: () => stats,
    keysWithLease: keeper.held,
    async stop() {
      await queue.settled();
      await keeper.stop();
      shards.stop();
    },
  };

  function charge(request: ChargeRequest): ChargeResult | Promise<ChargeResult> {
    const nowMs = monotonicMs();
    const { costs } = request;
    const budget = budgetOf(request);
    const admitted: boolean[] = [];
    const health = shards.of(request.team);
    if (!health.answers()) return chargeLocally(budget, costs, admitted, nowMs);
    if (budget.outage !== health.outage()) forgetRedis(budget, health.outage());

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
