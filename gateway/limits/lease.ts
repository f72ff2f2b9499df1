/** A lease covers about as many points as were used in this time: long against a round trip, short against a window. */
const useSpanMs = 50;

/** Points of one key that this process holds: taken from the key's counter in Redis, not yet used. All times are monotonic. */
export type Lease = {
  points: number;
  /** Points of the last grant: when half of them are gone, more are asked for. */
  granted: number;
  /** Number of the last grant, under which what is left is given back. */
  number: number;
  keyWindow: string;
  teamWindow: string;
  /** When the points end: with the key's window or the team's, whichever ends first. */
  endsMs: number;
  /** Until when they may be given back: the end of the key's window. */
  keyEndsMs: number;
  usedAtMs: number;
};

export function createLease(): Lease {
  return {
    points: 0,
    granted: 0,
    number: 0,
    keyWindow: "",
    teamWindow: "",
    endsMs: 0,
    keyEndsMs: 0,
    usedAtMs: 0,
  };
}

/** Pays for one call. A call is paid from the lease as a whole or not at all. */
export function spend(lease: Lease, cost: number, nowMs: number): boolean {
  if (cost > lease.points || nowMs >= lease.endsMs) return false;
  lease.points -= cost;
  return true;
}

/** Asking at half leaves the round trip about 25 ms before callers have to wait. */
export function runsLow(lease: Lease, nowMs: number): boolean {
  return lease.points <= lease.granted / 2 || nowMs >= lease.endsMs;
}

/** Adds a grant. What is left of another window's points belongs to that window and must not be used in this one. */
export function addGrant(
  lease: Lease,
  grant: Pick<Lease, "points" | "number" | "keyWindow" | "teamWindow" | "endsMs" | "keyEndsMs">,
): void {
  const sameWindows = lease.keyWindow === grant.keyWindow && lease.teamWindow === grant.teamWindow;
  const points = grant.points + (sameWindows ? lease.points : 0);
  Object.assign(lease, grant, { points, granted: grant.points });
}

/** Counts use in steps of 50 ms. */
export type UseMeter = { stepEndsMs: number; points: number; pointsBefore: number };

export function createUseMeter(): UseMeter {
  return { stepEndsMs: 0, points: 0, pointsBefore: 0 };
}

export function countUse(meter: UseMeter, points: number, nowMs: number): void {
  advance(meter, nowMs);
  meter.points += points;
}

/** Points used in about 50 ms: the larger of this step so far and the one before it. */
export function recentUse(meter: UseMeter, nowMs: number): number {
  advance(meter, nowMs);
  return Math.max(meter.points, meter.pointsBefore);
}

function advance(meter: UseMeter, nowMs: number): void {
  if (nowMs < meter.stepEndsMs) return;
  meter.pointsBefore = nowMs < meter.stepEndsMs + useSpanMs ? meter.points : 0;
  meter.points = 0;
  meter.stepEndsMs = nowMs + useSpanMs;
}
