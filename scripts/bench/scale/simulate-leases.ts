import {
  addGrant,
  countUse,
  createLease,
  createUseMeter,
  recentUse,
  runsLow,
  spend,
} from "../../../gateway/limits/lease.ts";
import { seeded } from "./seeded.ts";

/** A grant is there after so long; the points of one that nobody uses are given back after this. */
const roundTripMs = 1;
const windowMs = 60_000;

/**
 * Plays the calls of one key over processes that keep leases by the gateway's own rules, with calls at random times (Poisson)
 * from a seed. Answers how many scripts Redis runs, and how many calls were paid: none is lost or paid twice.
 */
export function simulateLeases({
  callsPerSecond,
  processes,
  seconds,
  seed,
}: {
  callsPerSecond: number;
  processes: number;
  seconds: number;
  seed: number;
}): { calls: number; paid: number; scripts: number } {
  const random = seeded(seed);
  const holders = Array.from({ length: processes }, () => ({
    lease: createLease(),
    meter: createUseMeter(),
    grantAtMs: Number.POSITIVE_INFINITY,
    grantPoints: 0,
    waiting: 0,
  }));
  let [calls, paid, scripts, granted] = [0, 0, 0, 0];
  const endsMs = seconds * 1000;
  for (let nowMs = nextAfter(0); nowMs < endsMs; nowMs = nextAfter(nowMs)) {
    calls += 1;
    const holder = holders[Math.floor(random() * processes)];
    if (holder === undefined) continue;
    const { lease, meter } = holder;
    if (nowMs >= holder.grantAtMs) {
      granted += holder.grantPoints;
      addGrant(lease, {
        points: holder.grantPoints,
        ...{ number: 1, keyWindow: "w", teamWindow: "", endsMs: windowMs * 1000, keyEndsMs: windowMs * 1000 },
      });
      for (; holder.waiting > 0 && spend(lease, 1, nowMs); holder.waiting -= 1) paid += 1;
      holder.grantAtMs = Number.POSITIVE_INFINITY;
    }
    countUse(meter, 1, nowMs);
    if (spend(lease, 1, nowMs)) paid += 1;
    else holder.waiting += 1;
    if (runsLow(lease, nowMs) && holder.grantAtMs === Number.POSITIVE_INFINITY) {
      scripts += 1;
      holder.grantAtMs = nowMs + roundTripMs;
      // What waits is paid of it, and the rest is kept in advance.
      holder.grantPoints = Math.max(holder.waiting, recentUse(meter, nowMs));
    }
  }
  const left = holders.reduce((sum, { lease }) => sum + lease.points, 0);
  if (granted !== paid + left)
    throw new Error(`${granted} points were granted, ${paid} used and ${left} are left`);
  return { calls, paid, scripts };

  function nextAfter(ms: number): number {
    return ms - (Math.log(1 - random()) * 1000) / callsPerSecond;
  }
}
