import type { UpstreamRole } from "../named-upstreams.ts";
import type { FailureReason } from "./connection.ts";
import type { Dispatcher } from "./dispatcher.ts";
import { waiting } from "./lanes.ts";
import { laneNames } from "./upstream-call.ts";
import { inFlight, lengthBuckets, type Validator } from "./validator.ts";

/** The pool, for `/status`. Times are milliseconds. */
export type PoolStatus = {
  validators: ValidatorStatus[];
  /** Calls that wait for a connection, and how long requests of all validators take. */
  lanes: Record<string, { waiting: number; p95Ms: number }>;
};

export type ValidatorStatus = {
  label: string;
  url: string;
  role: UpstreamRole;
  weight: number;
  /** The circuit breaker. closed: it gets calls. open: it is ejected. trial: it is half-open, and answers pings again. */
  breaker: "closed" | "trial" | "open";
  /** It is silent at the moment, and passed over while others are there. */
  suspect: boolean;
  lastTakenOut: { reason: FailureReason; at: string } | null;
  lanes: Record<
    string,
    { inFlight: number; max: number; waiting: number; meanMs: number; p95Ms: number; slow: boolean }
  >;
  calls: number;
  requests: number;
  hedges: number;
  /** Calls that another validator had to get. Only reasons that occurred. */
  failovers: Record<string, number>;
  /** How many requests held up to so many calls. */
  arrayLengths: Record<string, number>;
  longestArray: number;
};

export function poolStatus({
  validators,
  dispatcher,
  wallClock,
  now,
}: {
  validators: readonly Validator[];
  dispatcher: Pick<Dispatcher, "lanes">;
  wallClock: () => number;
  now: () => number;
}): PoolStatus {
  const lanes: PoolStatus["lanes"] = {};
  for (const lane of dispatcher.lanes) {
    lanes[laneName(lane.index)] = { waiting: waiting(lane), p95Ms: rounded(lane.latency.p95Ms()) };
  }
  const startedAtMs = wallClock() - now();
  return { validators: validators.map((validator) => validatorStatus(validator, startedAtMs)), lanes };
}

function validatorStatus(validator: Validator, startedAtMs: number): ValidatorStatus {
  const { health, stats } = validator;
  const state = health.state();
  const ejection = health.lastEjection();
  const lanes: ValidatorStatus["lanes"] = {};
  for (const [index, lane] of validator.lanes.entries()) {
    lanes[laneName(index)] = {
      inFlight: inFlight(lane),
      max: lane.max,
      waiting: lane.directed.count(),
      meanMs: rounded(lane.latency.meanMs()),
      p95Ms: rounded(lane.latency.p95Ms()),
      slow: lane.isSlow,
    };
  }
  return {
    label: validator.label,
    url: validator.url,
    role: validator.isReplica ? "replica" : "validator",
    weight: validator.weight,
    breaker: state === "half-open" ? "trial" : state,
    suspect: health.isSuspect(),
    lastTakenOut:
      ejection === undefined
        ? null
        : { reason: ejection.reason, at: new Date(startedAtMs + ejection.atMs).toISOString() },
    lanes,
    calls: stats.calls,
    requests: stats.requests,
    hedges: stats.hedgedCalls,
    failovers: Object.fromEntries(Object.entries(stats.failures).filter(([, count]) => count > 0)),
    arrayLengths: arrayLengths(stats.arrayLengths),
    longestArray: stats.longestArray,
  };
}

function arrayLengths(byLane: readonly number[][]): Record<string, number> {
  const sums: Record<string, number> = {};
  for (const [index, longest] of lengthBuckets.entries()) {
    const count = byLane.reduce((sum, counts) => sum + (counts[index] ?? 0), 0);
    if (count > 0) sums[Number.isFinite(longest) ? String(longest) : "more"] = count;
  }
  return sums;
}

function laneName(index: number): string {
  return laneNames[index] ?? String(index);
}

function rounded(ms: number): number {
  return Math.round(ms * 100) / 100;
}
