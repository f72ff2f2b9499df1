import type { Recorded } from "../record/recorder.ts";

export type ThresholdLimits = {
  p50Ms: number | undefined;
  p90Ms: number | undefined;
  p99Ms: number | undefined;
  /** 0 to 1. */
  errorRate: number | undefined;
};

/** `actual` and `limit` are milliseconds, or a share of 1 for the error rate. */
export type Threshold = {
  name: "p50" | "p90" | "p99" | "errorRate";
  limit: number;
  actual: number;
  passed: boolean;
};

/** The thresholds that were asked for. Where no latency was measured, none of them is kept. */
export function judgeThresholds(limits: ThresholdLimits, recorded: Recorded): Threshold[] {
  const { latencyMs } = recorded;
  const isMeasured = latencyMs.count > 0;
  const latencies = [
    { name: "p50", limit: limits.p50Ms, actual: latencyMs.p50 },
    { name: "p90", limit: limits.p90Ms, actual: latencyMs.p90 },
    { name: "p99", limit: limits.p99Ms, actual: latencyMs.p99 },
  ] as const;
  const thresholds: Threshold[] = latencies.flatMap(({ name, limit, actual }) =>
    limit === undefined ? [] : [{ name, limit, actual, passed: isMeasured && actual <= limit }],
  );
  if (limits.errorRate !== undefined) {
    const actual = errorRate(recorded);
    thresholds.push({
      name: "errorRate",
      limit: limits.errorRate,
      actual,
      passed: recorded.calls > 0 && actual <= limits.errorRate,
    });
  }
  return thresholds;
}

/** Failed calls (with those not sent and transactions not mined) of all that were due and not cut off. */
export function errorRate({ calls, failed }: Pick<Recorded, "calls" | "failed">): number {
  return calls === 0 ? 0 : Math.min(1, failed / calls);
}
