import type { Run, Taken } from "./budget-store.ts";
import { addGrant, createLease, createUseMeter, type Lease, type UseMeter } from "./lease.ts";
import { createLocalWindow, type LocalWindow } from "./local-limiter.ts";

/** Keys with a limit up to this ask Redis for each call, busier ones lease points. */
const exactLimitMax = 6000;
/** How long "nothing left" is believed if points may come back, because another process gives up its lease. */
const refusalMemoryMs = 20;

export type ChargeRequest = {
  keyId: string;
  team: string;
  limitPerMinute: number;
  /** Over all keys of the team. */
  teamCapPerMinute?: number | undefined;
  /** Points of each call of a body, in order: positive integers. */
  costs: readonly number[];
};

export type ChargeResult = {
  /** For each call, in order. */
  admitted: boolean[];
  limit: number;
  /** Points left in the window for this key, as far as this process knows; not more than its team's cap leaves. */
  remaining: number;
  /** Until the window ends that `remaining` belongs to. */
  resetMs: number;
  windowSeconds: number;
  /** Until the window ends that refused a call; 0 where all were admitted. */
  retryAfterMs: number;
  /** Redis did not answer: the call is charged to a tenth of the limit, which this process counts alone. */
  degraded: boolean;
};

/** Calls that wait for Redis: those of `costs` from `admitted.length` on. */
export type Waiting = {
  costs: readonly number[];
  admitted: boolean[];
  /** Called when `admitted` is complete. */
  decide: () => void;
  /** Called where Redis did not answer; `admitted` is as it was. */
  fail: () => void;
};

/** What this process knows of one key's budget. Times are monotonic milliseconds. */
export type Budget = {
  readonly keyId: string;
  readonly team: string;
  limit: number;
  teamCap: number;
  /** The number of Redis's last outage before the fields below were learned. */
  outage: number;
  lease: Lease;
  leaseAsked: boolean;
  noLeaseBeforeMs: number;
  /** Left in Redis after the last answer, leases not counted. */
  left: number;
  resetsMs: number;
  /** Until then a call that costs more than `refusedAbove` is refused without asking; its window ends at `retryMs`. */
  refusedUntilMs: number;
  refusedAbove: number;
  retryMs: number;
  meter: UseMeter;
  local: LocalWindow;
  waiting: Waiting[];
  scheduled: boolean;
};

export function createBudget({ keyId, team, outage }: Pick<Budget, "keyId" | "team" | "outage">): Budget {
  return {
    keyId,
    team,
    limit: 0,
    teamCap: 0,
    outage,
    lease: createLease(),
    leaseAsked: false,
    noLeaseBeforeMs: 0,
    left: 0,
    resetsMs: 0,
    refusedUntilMs: 0,
    refusedAbove: 0,
    retryMs: 0,
    meter: createUseMeter(),
    local: createLocalWindow(),
    waiting: [],
    scheduled: false,
  };
}

/** Whether the key takes points in advance. */
export function leases({ limit, teamCap }: Budget): boolean {
  return limit > exactLimitMax && (teamCap === 0 || teamCap > exactLimitMax);
}

/**
 * Forgets what Redis said before it stopped answering. Redis may come back empty, with new windows, and the points of an
 * old lease would be used on top of them. The few points that are lost were charged, so the limit is never passed.
 */
export function forgetRedis(budget: Budget, outage: number): void {
  budget.outage = outage;
  budget.lease.points = 0;
  budget.noLeaseBeforeMs = 0;
  budget.refusedUntilMs = 0;
}

/** Learns from an answer to a request that was sent at `sentMs`. */
export function learn({
  budget,
  taken,
  lease,
  wanted,
  sentMs,
  nowMs,
}: {
  budget: Budget;
  taken: Taken;
  /** The number under which the lease was asked for. */
  lease: number;
  wanted: number;
  sentMs: number;
  nowMs: number;
}): void {
  const { key, team } = taken;
  // Redis counted from a moment after `sentMs`, and in whole milliseconds: so this is never after the window's end.
  const keyEndsMs = sentMs + key.endsInMs - 1;
  const teamEndsMs = team === undefined ? Number.POSITIVE_INFINITY : sentMs + team.endsInMs - 1;
  const teamBinds = team !== undefined && team.left < key.left;
  budget.left = teamBinds ? team.left : key.left;
  budget.resetsMs = teamBinds ? teamEndsMs : keyEndsMs;

  if (taken.keyShort || taken.teamShort) {
    // A key that does not lease gets no point back before its window ends: until then "nothing left" stays true.
    const certain = taken.keyShort && !leases(budget);
    const endsMs = Math.min(keyEndsMs, teamEndsMs);
    budget.refusedUntilMs = certain ? keyEndsMs : Math.min(nowMs + refusalMemoryMs, endsMs);
    budget.refusedAbove = taken.keyShort ? key.left : (team?.left ?? 0);
    budget.retryMs = Math.max(taken.keyShort ? keyEndsMs : 0, taken.teamShort ? teamEndsMs : 0);
  }

  if (taken.leased > 0) {
    addGrant(budget.lease, {
      points: taken.leased,
      number: lease,
      keyWindow: key.id,
      teamWindow: team?.id ?? "",
      endsMs: Math.min(keyEndsMs, teamEndsMs),
      keyEndsMs,
    });
  } else if (wanted > 0) {
    budget.noLeaseBeforeMs = nowMs + refusalMemoryMs;
  }
}

/** Whether Redis would refuse all of these calls, by its last refusal. */
export function isKnownRefused(
  budget: Budget,
  costs: readonly number[],
  from: number,
  nowMs: number,
): boolean {
  if (nowMs >= budget.refusedUntilMs) return false;
  for (let index = from; index < costs.length; index += 1) {
    if ((costs[index] ?? 0) <= budget.refusedAbove) return false;
  }
  return true;
}

/** The calls of all that wait, in order, as runs of one cost: usually a single run. */
export function toRuns(waiting: readonly Waiting[]): Run[] {
  const runs: Run[] = [];
  let last: Run | undefined;
  for (const { costs, admitted } of waiting) {
    for (let index = admitted.length; index < costs.length; index += 1) {
      const cost = costs[index] ?? 0;
      if (last?.cost === cost) {
        last.count += 1;
      } else {
        last = { cost, count: 1 };
        runs.push(last);
      }
    }
  }
  return runs;
}

/** Writes the answer for each run back to its calls. */
export function distribute(waiting: readonly Waiting[], runs: readonly Run[], fits: readonly number[]): void {
  let run = 0;
  let place = 0;
  for (const { costs, admitted } of waiting) {
    while (admitted.length < costs.length) {
      if (place === runs[run]?.count) {
        run += 1;
        place = 0;
      }
      admitted.push(place < (fits[run] ?? 0));
      place += 1;
    }
  }
}
