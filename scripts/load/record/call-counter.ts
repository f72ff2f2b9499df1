import type { Fault } from "../request.ts";
import type { createErrorTable } from "./error-table.ts";
import type { createLatencies } from "./latencies.ts";
import type { createMethods } from "./run-tables.ts";
import type { createSeries } from "./series.ts";

/** Makes the function that counts the calls of one request: by method, by fault, in the histograms and in the plots. */
export function createCallCounter({
  totals,
  methods,
  errors,
  series,
  latency,
  failure,
}: {
  totals: { calls: number };
  methods: ReturnType<typeof createMethods>;
  errors: ReturnType<typeof createErrorTable>;
  series: readonly ReturnType<typeof createSeries>[];
  latency: ReturnType<typeof createLatencies>;
  failure: ReturnType<typeof createLatencies>;
}) {
  return function count({
    label,
    calls,
    faults,
    latencyMs,
    atMs,
  }: {
    label: string;
    calls: number;
    faults: readonly Fault[];
    latencyMs: number;
    /** Since the beginning of the run. */
    atMs: number;
  }): void {
    const method = methods.of(label);
    const failed = faults.reduce((sum, fault) => sum + fault.calls, 0);
    for (const fault of faults) errors.add(fault);
    totals.calls += calls;
    method.calls += calls;
    method.failed += failed;
    for (const each of series) each.calls(atMs, { calls, failed });
    const wasLate = faults.some(({ kind }) => kind === "timeout" || kind === "not sent");
    if (failed < calls || wasLate) {
      latency.record(latencyMs);
      method.latencies.record(latencyMs);
      for (const each of series) each.latency(atMs, latencyMs);
    } else {
      failure.record(latencyMs);
    }
  };
}
