import { createErrorTable, type ErrorRow } from "./error-table.ts";
import { createLatencies, type Latencies } from "./latencies.ts";
import { createEarlyEnds, createRows, type EarlyEnd, type RowCounts } from "./run-tables.ts";

const trends = ["latency", "service", "failure", "queued", "late", "mined"] as const;
type Trend = (typeof trends)[number];
const counters = ["arrivals", "requests", "calls", "cutOff"] as const;
type Counter = (typeof counters)[number];

/** All counts of a run but those over time: of one process, or the sum of several. */
export type Tallies = {
  totals: Record<Counter, number>;
  trends: Readonly<Record<Trend, Latencies>>;
  methods: ReturnType<typeof createRows>;
  tags: ReturnType<typeof createRows>;
  errors: ReturnType<typeof createErrorTable>;
  endedEarly: ReturnType<typeof createEarlyEnds>;
};

type TextRow = RowCounts & { label: string; latencies: string };

/** Tallies as JSON can carry them, histograms with all their counts. */
export type TalliesText = {
  totals: Record<Counter, number>;
  trends: Record<Trend, string>;
  methods: TextRow[];
  tags: TextRow[];
  errors: ErrorRow[];
  endedEarly: EarlyEnd[];
};

export function createTallies({ isSum = false }: { isSum?: boolean } = {}): Tallies {
  const create = () => createLatencies({ isSum });
  return {
    totals: { arrivals: 0, requests: 0, calls: 0, cutOff: 0 },
    trends: {
      latency: create(),
      service: create(),
      failure: create(),
      queued: create(),
      late: create(),
      mined: create(),
    },
    methods: createRows({ isSum }),
    tags: createRows({ isSum }),
    errors: createErrorTable(),
    endedEarly: createEarlyEnds(),
  };
}

export function writeTallies({
  totals,
  trends: of,
  methods,
  tags,
  errors,
  endedEarly,
}: Tallies): TalliesText {
  return {
    totals: { ...totals },
    trends: {
      latency: of.latency.encode(),
      service: of.service.encode(),
      failure: of.failure.encode(),
      queued: of.queued.encode(),
      late: of.late.encode(),
      mined: of.mined.encode(),
    },
    methods: methods.encode(),
    tags: tags.encode(),
    errors: errors.rows(),
    endedEarly: endedEarly.rows(),
  };
}

/** The sum of several processes' tallies: histograms bucket by bucket, so that its percentiles are those of all calls. */
export function sumTallies(parts: readonly TalliesText[]): Tallies {
  const sum = createTallies({ isSum: true });
  for (const part of parts) {
    for (const counter of counters) sum.totals[counter] += part.totals[counter];
    for (const trend of trends) sum.trends[trend].add(part.trends[trend]);
    for (const row of part.methods) sum.methods.add(row);
    for (const row of part.tags) sum.tags.add(row);
    for (const { kind, code, calls, example } of part.errors)
      sum.errors.add({ kind, code, calls, ...example });
    for (const { item, step, count } of part.endedEarly) sum.endedEarly.add(item, step, count);
  }
  return sum;
}
