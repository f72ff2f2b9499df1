import type { ContestantName } from "./contestant.ts";
import type { Measurement } from "./measure.ts";
import type { AddedLatency } from "./measure-added-latency.ts";
import type { WorkloadName } from "./workloads.ts";

/** A figure over all rounds. */
export type Spread = { median: number; min: number; max: number };

export type WorkloadRow = {
  contestant: ContestantName;
  work: WorkloadName;
  rounds: readonly Measurement[];
  requestsPerSecond: Spread;
  p50Ms: Spread;
  p99Ms: Spread;
  requestsPerCpuSecond: Spread;
  requestsPerCpuSecondWithRedis: Spread;
  arrayLength: Spread;
  reachedShare: Spread;
  peakMemoryBytes: Spread;
  /** Over all rounds. */
  errors: number;
  wrong: number;
  /** The ratio to nginx in the same round; undefined where nginx was not measured. */
  againstNginx: AgainstNginx | undefined;
};

export type AgainstNginx = {
  requestsPerCpuSecond: Spread;
  /** The contestant's Redis counts; nginx has none. */
  requestsPerCpuSecondWithRedis: Spread;
  requestsPerSecond: Spread;
  p99Ms: Spread;
};

export type LatencyRow = {
  contestant: ContestantName;
  rounds: readonly AddedLatency[];
  requestsPerSecond: Spread;
  directP50Ms: Spread;
  directP99Ms: Spread;
  addedP50Ms: Spread;
  addedP99Ms: Spread;
  errors: number;
};

/** One contestant's rounds of one workload; `nginx` has nginx's rounds in the same order. */
export function summarizeWorkload({
  contestant,
  work,
  rounds,
  nginx,
}: {
  contestant: ContestantName;
  work: WorkloadName;
  rounds: readonly Measurement[];
  nginx: readonly Measurement[] | undefined;
}): WorkloadRow {
  const over = (figure: (one: Measurement) => number) => spreadOf(rounds.map(figure));
  // The ratio is taken by round: other work on the machine changes over time and slows both alike.
  const against = (figure: (one: Measurement) => number) =>
    spreadOf(rounds.flatMap((one, round) => ratio(figure(one), nginx?.[round], figure)));
  return {
    contestant,
    work,
    rounds,
    requestsPerSecond: over((one) => one.requestsPerSecond),
    p50Ms: over((one) => one.p50Ms),
    p99Ms: over((one) => one.p99Ms),
    requestsPerCpuSecond: over((one) => one.requestsPerCpuSecond),
    requestsPerCpuSecondWithRedis: over((one) => one.requestsPerCpuSecondWithRedis),
    arrayLength: over((one) => one.arrayLength),
    reachedShare: over((one) => one.reachedShare),
    peakMemoryBytes: over((one) => one.peakMemoryBytes),
    errors: rounds.reduce((sum, one) => sum + one.errors, 0),
    wrong: rounds.reduce((sum, one) => sum + one.wrong.wrong, 0),
    againstNginx: nginx && {
      requestsPerCpuSecond: against((one) => one.requestsPerCpuSecond),
      requestsPerCpuSecondWithRedis: against((one) => one.requestsPerCpuSecondWithRedis),
      requestsPerSecond: against((one) => one.requestsPerSecond),
      p99Ms: against((one) => one.p99Ms),
    },
  };
}

export function summarizeLatency(contestant: ContestantName, rounds: readonly AddedLatency[]): LatencyRow {
  const over = (figure: (one: AddedLatency) => number) => spreadOf(rounds.map(figure));
  return {
    contestant,
    rounds,
    requestsPerSecond: over((one) => one.requestsPerSecond),
    directP50Ms: over((one) => one.direct.p50Ms),
    directP99Ms: over((one) => one.direct.p99Ms),
    addedP50Ms: over((one) => one.addedP50Ms),
    addedP99Ms: over((one) => one.addedP99Ms),
    errors: rounds.reduce((sum, one) => sum + one.errors, 0),
  };
}

/** The median of an even count is the mean of the two in the middle. */
export function spreadOf(values: readonly number[]): Spread {
  const sorted = values.toSorted((one, other) => one - other);
  const middle = (sorted.length - 1) / 2;
  const [lower = Number.NaN, upper = Number.NaN] = [sorted[Math.floor(middle)], sorted[Math.ceil(middle)]];
  return { median: (lower + upper) / 2, min: sorted[0] ?? Number.NaN, max: sorted.at(-1) ?? Number.NaN };
}

function ratio(own: number, nginx: Measurement | undefined, figure: (one: Measurement) => number): number[] {
  return nginx === undefined ? [] : [own / figure(nginx)];
}
