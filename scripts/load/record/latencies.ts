import {
  build,
  decodeFromCompressedBase64,
  encodeIntoCompressedBase64,
  type Histogram,
} from "hdr-histogram-js";

export type LatencySummary = {
  count: number;
  /** Milliseconds, as all that follow; 0 where nothing was recorded. */
  p50: number;
  p90: number;
  p99: number;
  p999: number;
  max: number;
  mean: number;
};

export type Latencies = {
  record(latencyMs: number): void;
  count(): number;
  percentile(percentile: number): number;
  min(): number;
  summary(): LatencySummary;
  /** Points of the curve latency over percentile, denser towards 100 %. */
  curve(): { percentile: number; latencyMs: number }[];
  reset(): void;
  /** All counts, as text: `add` of another process puts them into its own without a loss. */
  encode(): string;
  add(encoded: string): void;
};

const hourUs = 3_600_000_000;
const curvePercentiles = [
  0, 10, 20, 30, 40, 50, 60, 70, 75, 80, 85, 90, 92.5, 95, 97.5, 99, 99.5, 99.9, 99.95, 99.99,
];

/**
 * An HDR histogram of microseconds: three significant digits, so at most 0.1 % off, from 1 µs to an hour. `isSum`: others
 * are added to it.
 */
export function createLatencies({ isSum = false }: { isSum?: boolean } = {}): Latencies {
  const histogram: Histogram = build({
    // A day's calls of several processes can pass 2³² in one bucket.
    bitBucketSize: isSum ? 64 : 32,
    lowestDiscernibleValue: 1,
    highestTrackableValue: hourUs,
    numberOfSignificantValueDigits: 3,
    autoResize: false,
  });
  const percentile = (at: number) =>
    histogram.totalCount === 0 ? 0 : histogram.getValueAtPercentile(at) / 1000;
  return {
    record: (latencyMs) => histogram.recordValue(Math.min(hourUs, Math.max(1, Math.round(latencyMs * 1000)))),
    count: () => histogram.totalCount,
    percentile,
    min: () => (histogram.totalCount === 0 ? 0 : histogram.minNonZeroValue / 1000),
    summary: () => ({
      count: histogram.totalCount,
      p50: percentile(50),
      p90: percentile(90),
      p99: percentile(99),
      p999: percentile(99.9),
      max: percentile(100),
      mean: histogram.totalCount === 0 ? 0 : histogram.mean / 1000,
    }),
    curve() {
      // A percentile with less than one value above it is the maximum.
      const known = curvePercentiles.filter((at) => histogram.totalCount * (1 - at / 100) >= 1);
      return [...known, 100].map((at) => ({ percentile: at, latencyMs: percentile(at) }));
    },
    reset: () => histogram.reset(),
    encode: () => encodeIntoCompressedBase64(histogram),
    add: (encoded) => histogram.add(decodeFromCompressedBase64(encoded, isSum ? 64 : 32, false)),
  };
}
