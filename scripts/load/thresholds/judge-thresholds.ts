import type { Latencies } from "../record/latencies.ts";
import type { Operator, ThresholdRule, Unit } from "./rule.ts";

/** What thresholds are held against: live figures of a run, or those of its end. */
export type Figures = {
  latency(
    selector: ThresholdRule["selector"],
  ): Pick<Latencies, "count" | "percentile" | "summary" | "min"> | undefined;
  trend(metric: "service" | "mined"): Pick<Latencies, "count" | "percentile" | "summary" | "min">;
  calls(selector: ThresholdRule["selector"]): { calls: number; failed: number };
  /** Known at the end only. */
  stuck: number | undefined;
  elapsedMs: number;
};

/** `actual` and `limit` are of `unit`: milliseconds, a share of 1, a number, or a number a second. */
export type Threshold = {
  name: string;
  unit: Unit;
  operator: Operator;
  limit: number;
  /** Null where nothing was measured that it could be held against. */
  actual: number | null;
  passed: boolean;
};

/** The thresholds that were asked for. One whose figure was not measured is not kept. */
export function judgeThresholds(rules: readonly ThresholdRule[], figures: Figures): Threshold[] {
  return rules.map((rule) => {
    const { name, unit, operator, limit } = rule;
    const actual = figureOf(rule, figures) ?? null;
    return { name, unit, operator, limit, actual, passed: actual !== null && holds(actual, operator, limit) };
  });
}

/** The first threshold that ends the run now: missed by what is measured already, after its delay. */
export function findAbort(rules: readonly ThresholdRule[], figures: Figures): Threshold | undefined {
  const due = rules.filter(({ abortOnFail, delayMs }) => abortOnFail && figures.elapsedMs >= delayMs);
  return judgeThresholds(due, figures).find(({ actual, passed }) => actual !== null && !passed);
}

function figureOf(
  { metric, selector, take, percentile }: ThresholdRule,
  figures: Figures,
): number | undefined {
  if (metric === "stuck") return figures.stuck;
  if (metric === "failed" || metric === "calls") {
    const { calls, failed } = figures.calls(selector);
    if (metric === "calls") return take === "count" ? calls : (calls * 1000) / Math.max(1, figures.elapsedMs);
    if (calls === 0) return undefined;
    return take === "count" ? failed : Math.min(1, failed / calls);
  }
  const latencies = metric === "latency" ? figures.latency(selector) : figures.trend(metric);
  if (latencies === undefined || latencies.count() === 0) return undefined;
  if (take === "p") return latencies.percentile(percentile);
  if (take === "min") return latencies.min();
  const { max, mean } = latencies.summary();
  return take === "max" ? max : mean;
}

function holds(actual: number, operator: Operator, limit: number): boolean {
  switch (operator) {
    case "<":
      return actual < limit;
    case "<=":
      return actual <= limit;
    case ">":
      return actual > limit;
    case ">=":
      return actual >= limit;
    case "!=":
      return actual !== limit;
    default:
      return actual === limit;
  }
}

/** Failed calls (with those not sent and transactions not mined) of all that were due and not cut off. */
export function errorRate({ calls, failed }: { calls: number; failed: number }): number {
  return calls === 0 ? 0 : Math.min(1, failed / calls);
}
