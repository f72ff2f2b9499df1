import type { Budget, ChargeResult } from "./budget.ts";
import type { LimiterStats } from "./limiter-stats.ts";
import { createLocalLimiter } from "./local-limiter.ts";

/** Writes what a charge is answered: as Redis has decided, or by this process alone while Redis does not answer. */
export function createChargeResults({ stats, windowMs }: { stats: LimiterStats; windowMs: number }) {
  const local = createLocalLimiter({ windowMs });
  const windowSeconds = windowMs / 1000;

  function chargeLocally(
    budget: Budget,
    costs: readonly number[],
    admitted: boolean[],
    nowMs: number,
  ): ChargeResult {
    stats.calls.local += costs.length - admitted.length;
    const { local: window, limit, team, teamCap } = budget;
    const answer = local.charge({ window, limit, team, teamCap, costs, admitted, nowMs });
    stats.refused += countRefused(admitted);
    return { admitted, limit, ...answer, windowSeconds, degraded: true };
  }

  /** Refuses the calls that are not decided yet. */
  function refuse(
    budget: Budget,
    costs: readonly number[],
    admitted: boolean[],
    retryAfterMs: number,
  ): ChargeResult {
    while (admitted.length < costs.length) admitted.push(false);
    return summarize(budget, admitted, retryAfterMs, retryAfterMs);
  }

  function describe(budget: Budget, admitted: boolean[], nowMs: number): ChargeResult {
    if (!admitted.includes(false)) {
      return summarize(budget, admitted, Math.max(0, budget.resetsMs - nowMs), 0);
    }
    // The headers' draft asks that both name one moment where a refusal carries both.
    const retryAfterMs = Math.max(1, budget.retryMs - nowMs);
    return summarize(budget, admitted, retryAfterMs, retryAfterMs);
  }

  function summarize(
    { limit, left, lease }: Budget,
    admitted: boolean[],
    resetMs: number,
    retryAfterMs: number,
  ): ChargeResult {
    if (retryAfterMs > 0) stats.refused += countRefused(admitted);
    const remaining = left + lease.points;
    return { admitted, limit, remaining, resetMs, windowSeconds, retryAfterMs, degraded: false };
  }

  return { chargeLocally, refuse, describe };
}

function countRefused(admitted: readonly boolean[]): number {
  let refused = 0;
  for (const one of admitted) if (!one) refused += 1;
  return refused;
}
