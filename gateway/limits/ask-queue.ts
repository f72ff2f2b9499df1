import { type Budget, distribute, learn, leases, toRuns, type Waiting } from "./budget.ts";
import type { BudgetStore } from "./budget-store.ts";
import { recentUse } from "./lease.ts";
import type { LeaseKeeper } from "./lease-keeper.ts";
import type { LimiterStats } from "./limiter-stats.ts";
import type { ShardHealth } from "./shard-health.ts";

/** Calls in one script: keeps Redis free for others, a few milliseconds at the most. */
const callsPerCommandMax = 2000;

export type AskQueue = {
  /** These calls wait for Redis. `Waiting.decide` or `Waiting.fail` is called within the command timeout. */
  add(budget: Budget, waiting: Waiting): void;
  /** The lease runs low: ask for more, unless that is under way. */
  wantLease(budget: Budget): void;
  /** Calls that wait, of all keys. */
  waitingCalls(): number;
  /** Resolves when every request is answered or has failed. Nothing may be added meanwhile. */
  settled(): Promise<void>;
};

/**
 * Asks Redis: once for each key and turn of the event loop, after all callbacks of the turn, so that calls that
 * arrived together are charged together, in order. Nothing waits for an earlier answer.
 */
export function createAskQueue({
  store,
  shards,
  keeper,
  stats,
  monotonicMs,
}: {
  store: BudgetStore;
  shards: ShardHealth;
  keeper: LeaseKeeper;
  stats: LimiterStats;
  monotonicMs: () => number;
}): AskQueue {
  let scheduled: Budget[] = [];
  let waitingCalls = 0;
  let lastLease = 0;
  let questions = 0;
  let onSettled = () => {};

  return {
    add(budget, waiting) {
      waitingCalls += undecided(waiting);
      budget.waiting.push(waiting);
      schedule(budget);
    },
    wantLease(budget) {
      if (!budget.leaseAsked && monotonicMs() >= budget.noLeaseBeforeMs) schedule(budget);
    },
    waitingCalls: () => waitingCalls,
    async settled() {
      if (scheduled.length > 0) await new Promise((resolve) => setImmediate(resolve));
      if (questions > 0) await new Promise<void>((resolve) => (onSettled = resolve));
    },
  };

  function schedule(budget: Budget): void {
    if (budget.scheduled) return;
    budget.scheduled = true;
    if (scheduled.push(budget) === 1) setImmediate(askForScheduled);
  }

  function askForScheduled(): void {
    const budgets = scheduled;
    scheduled = [];
    for (const budget of budgets) {
      budget.scheduled = false;
      const waiting = budget.waiting;
      budget.waiting = [];
      let wanted = leaseSize(budget, waiting);
      if (waiting.length === 0 && wanted > 0) void ask(budget, [], wanted);
      for (const part of partsOf(waiting)) {
        void ask(budget, part, wanted);
        wanted = 0;
      }
    }
  }

  function leaseSize(budget: Budget, waiting: readonly Waiting[]): number {
    const nowMs = monotonicMs();
    if (!leases(budget) || budget.leaseAsked || nowMs < budget.noLeaseBeforeMs) return 0;
    let waitingPoints = 0;
    for (const { costs, admitted } of waiting) {
      for (let call = admitted.length; call < costs.length; call += 1) waitingPoints += costs[call] ?? 0;
    }
    // A key that is used now and then gets no lease: it would only give the points back.
    return Math.max(0, recentUse(budget.meter, nowMs) - waitingPoints);
  }

  async function ask(budget: Budget, waiting: readonly Waiting[], wanted: number): Promise<void> {
    const { keyId, team, limit, teamCap } = budget;
    const health = shards.of(team);
    const outage = health.outage();
    const runs = toRuns(waiting);
    const calls = runs.reduce((sum, { count }) => sum + count, 0);
    lastLease += 1;
    const lease = lastLease;
    if (wanted > 0) budget.leaseAsked = true;
    stats.commands.take += 1;
    questions += 1;
    const sentMs = monotonicMs();
    try {
      const taken = await store.take({ keyId, team, limit, teamCap, lease, wanted, runs });
      // An answer from before an outage: its calls are paid for, but the rest of it no longer holds.
      if (health.outage() === outage && budget.outage === outage) {
        learn({ budget, taken, lease, wanted, sentMs, nowMs: monotonicMs() });
        if (taken.leased > 0) keeper.hold(budget);
        stats.points.leased += taken.leased;
      }
      distribute(waiting, runs, taken.fits);
      for (const { decide } of waiting) decide();
    } catch (error) {
      health.failed(error, outage);
      for (const { fail } of waiting) fail();
    } finally {
      if (wanted > 0) budget.leaseAsked = false;
      waitingCalls -= calls;
      questions -= 1;
      if (questions === 0) onSettled();
    }
  }
}

function undecided({ costs, admitted }: Waiting): number {
  return costs.length - admitted.length;
}

/** Splits the waiting calls so that no script judges too many. The calls of one body stay together. */
function partsOf(waiting: readonly Waiting[]): Waiting[][] {
  const parts: Waiting[][] = [];
  let part: Waiting[] = [];
  let calls = 0;
  for (const one of waiting) {
    if (part.length > 0 && calls + undecided(one) > callsPerCommandMax) {
      parts.push(part);
      part = [];
      calls = 0;
    }
    part.push(one);
    calls += undecided(one);
  }
  if (part.length > 0) parts.push(part);
  return parts;
}
