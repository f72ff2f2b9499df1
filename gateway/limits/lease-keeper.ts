import type { Budget } from "./budget.ts";
import type { BudgetStore } from "./budget-store.ts";
import type { LimiterStats } from "./limiter-stats.ts";
import type { ShardHealth } from "./shard-health.ts";

const sweepIntervalMs = 25;

export type LeaseKeeper = {
  /** The budget's lease has got points. */
  hold(budget: Budget): void;
  /** Gives back what is left, if that still means anything. Never rejects. */
  giveBack(budget: Budget): Promise<void>;
  held(): number;
  /** Gives back all leases and waits for the answers. */
  stop(): Promise<void>;
};

/** Gives unused points back to Redis, `leaseIdleMs` after the key's last call. */
export function createLeaseKeeper({
  store,
  shards,
  stats,
  monotonicMs,
  leaseIdleMs,
}: {
  store: BudgetStore;
  shards: ShardHealth;
  stats: LimiterStats;
  monotonicMs: () => number;
  leaseIdleMs: number;
}): LeaseKeeper {
  const holding = new Set<Budget>();
  let timer: NodeJS.Timeout | undefined;

  return {
    hold(budget) {
      holding.add(budget);
      if (timer !== undefined) return;
      timer = setInterval(sweep, sweepIntervalMs);
      timer.unref();
    },
    giveBack,
    held: () => holding.size,
    async stop() {
      stopSweeping();
      await Promise.all([...holding].map(giveBack));
    },
  };

  function sweep(): void {
    const nowMs = monotonicMs();
    for (const budget of holding) {
      const { points, usedAtMs, endsMs } = budget.lease;
      // If the team's window ends first, unused points still go back to the key.
      const unused = nowMs - usedAtMs >= leaseIdleMs || nowMs >= endsMs;
      if (points === 0) holding.delete(budget);
      // While a grant is being asked for, wait: its number is the one to give back under.
      else if (unused && !budget.leaseAsked) void giveBack(budget);
    }
    if (holding.size === 0) stopSweeping();
  }

  function stopSweeping(): void {
    clearInterval(timer);
    timer = undefined;
  }

  async function giveBack(budget: Budget): Promise<void> {
    const { keyId, team, lease } = budget;
    const { points, number, keyWindow, teamWindow, keyEndsMs } = lease;
    const health = shards.of(team);
    const outage = health.outage();
    // Removed here before Redis has them: if the answer is lost no process has them, and never two processes.
    lease.points = 0;
    holding.delete(budget);
    if (points === 0 || budget.outage !== outage || !health.answers() || monotonicMs() >= keyEndsMs) return;
    budget.left += points;
    stats.commands.giveBack += 1;
    try {
      const request = { keyId, team, lease: number, points, keyWindow, teamWindow };
      stats.points.givenBack += await store.giveBack(request);
    } catch (error) {
      health.failed(error, outage);
    }
  }
}
