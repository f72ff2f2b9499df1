import type { Fault } from "../request.ts";
import type { createSeries } from "./series.ts";
import type { Tallies } from "./tallies.ts";

export type CountedCalls = {
  label: string;
  tag: string | undefined;
  calls: number;
  faults: readonly Fault[];
  latencyMs: number;
  /** Since the beginning of the run. */
  atMs: number;
};

/** Makes the function that counts the calls of one request: by method, tag and fault, in the histograms and in the plots. */
export function createCallCounter({
  tallies: { totals, trends, methods, tags, errors },
  series,
}: {
  tallies: Tallies;
  series: readonly ReturnType<typeof createSeries>[];
}) {
  return function count({ label, tag, calls, faults, latencyMs, atMs }: CountedCalls): void {
    const rows = tag === undefined ? [methods.of(label)] : [methods.of(label), tags.of(tag)];
    const failed = faults.reduce((sum, fault) => sum + fault.calls, 0);
    for (const fault of faults) errors.add(fault);
    totals.calls += calls;
    for (const row of rows) {
      row.calls += calls;
      row.failed += failed;
    }
    for (const each of series) each.calls(atMs, { calls, failed });
    const wasLate = faults.some(({ kind }) => kind === "timeout" || kind === "not sent");
    if (failed < calls || wasLate) {
      trends.latency.record(latencyMs);
      for (const row of rows) row.latencies.record(latencyMs);
      for (const each of series) each.latency(atMs, latencyMs);
    } else {
      trends.failure.record(latencyMs);
    }
  };
}
