import { createLatencies, type LatencySummary } from "./latencies.ts";

export type MethodRow = {
  label: string;
  requests: number;
  calls: number;
  failed: number;
  latencyMs: LatencySummary;
};

export type EarlyEnd = { item: string; step: number; count: number };

/** What `Recorded` says of each. */
export function createRunLatencies() {
  return {
    latency: createLatencies(),
    service: createLatencies(),
    failure: createLatencies(),
    queued: createLatencies(),
    late: createLatencies(),
    mined: createLatencies(),
  };
}

/** Counts and latencies of each method. */
export function createMethods() {
  const create = () => ({ requests: 0, calls: 0, failed: 0, latencies: createLatencies() });
  const methods = new Map<string, ReturnType<typeof create>>();
  return {
    of(label: string) {
      const method = methods.get(label) ?? create();
      methods.set(label, method);
      return method;
    },
    rows: (): MethodRow[] =>
      [...methods].map(([label, { latencies, ...counts }]) => ({
        label,
        ...counts,
        latencyMs: latencies.summary(),
      })),
  };
}

/** How often scripts ended before their last step, and at which one. */
export function createEarlyEnds() {
  const rows = new Map<string, EarlyEnd>();
  return {
    add(item: string, step: number): void {
      const key = `${step} ${item}`;
      const row = rows.get(key) ?? { item, step, count: 0 };
      row.count += 1;
      rows.set(key, row);
    },
    rows: () => [...rows.values()],
  };
}
