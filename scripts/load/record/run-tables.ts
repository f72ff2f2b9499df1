import { createLatencies, type LatencySummary } from "./latencies.ts";

export type RowCounts = { requests: number; calls: number; failed: number };
export type MethodRow = RowCounts & { label: string; latencyMs: LatencySummary };

export type EarlyEnd = { item: string; step: number; count: number };

/** A histogram takes 90 kB; a load file can name thousands of methods. What is more than this is counted together. */
const rowsMax = 300;
export const otherRows = "others";

/** Counts and latencies of each method, or of each tag. */
export function createRows({ isSum = false }: { isSum?: boolean } = {}) {
  const create = () => ({ requests: 0, calls: 0, failed: 0, latencies: createLatencies({ isSum }) });
  const rows = new Map<string, ReturnType<typeof create>>();
  const of = (wanted: string) => {
    const label = rows.size < rowsMax || rows.has(wanted) ? wanted : otherRows;
    const row = rows.get(label) ?? create();
    rows.set(label, row);
    return row;
  };
  return {
    of,
    get: (label: string) => rows.get(label),
    rows: (): MethodRow[] =>
      [...rows].map(([label, { latencies, ...counts }]) => ({
        label,
        ...counts,
        latencyMs: latencies.summary(),
      })),
    encode: () =>
      [...rows].map(([label, { latencies, ...counts }]) => ({
        label,
        ...counts,
        latencies: latencies.encode(),
      })),
    add({ label, requests, calls, failed, latencies }: RowCounts & { label: string; latencies: string }) {
      const row = of(label);
      row.requests += requests;
      row.calls += calls;
      row.failed += failed;
      row.latencies.add(latencies);
    },
  };
}

/** How often scripts ended before their last step, and at which one. */
export function createEarlyEnds() {
  const rows = new Map<string, EarlyEnd>();
  return {
    add(item: string, step: number, count = 1): void {
      const key = `${step} ${item}`;
      const row = rows.get(key) ?? { item, step, count: 0 };
      row.count += count;
      rows.set(key, row);
    },
    rows: () => [...rows.values()],
  };
}
