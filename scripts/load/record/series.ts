import { createLatencies } from "./latencies.ts";

/** One point of the plots: what ended between two times from the start. */
export type Slice = {
  fromMs: number;
  toMs: number;
  /** Scripts that were begun. */
  arrivals: number;
  calls: number;
  failed: number;
  p50: number;
  p99: number;
  max: number;
  /** At its end. */
  inFlight: number;
  queued: number;
};

/** Counts by time. The first event or look after a slice's end closes it. Empty slices stay. */
export function createSeries({
  sliceMs,
  slicesMax,
  waiting,
}: {
  sliceMs: number;
  /** The oldest one goes when there would be more. */
  slicesMax: number;
  waiting: () => { inFlight: number; queued: number };
}) {
  const slices: Slice[] = [];
  const latencies = createLatencies();
  let fromMs = 0;
  let current = { arrivals: 0, calls: 0, failed: 0 };

  function close(toMs: number): void {
    slices.push({
      fromMs,
      toMs,
      ...current,
      p50: latencies.percentile(50),
      p99: latencies.percentile(99),
      max: latencies.percentile(100),
      ...waiting(),
    });
    if (slices.length > slicesMax) slices.shift();
    latencies.reset();
    current = { arrivals: 0, calls: 0, failed: 0 };
    fromMs = toMs;
  }

  function advance(atMs: number): void {
    while (atMs >= fromMs + sliceMs) close(fromMs + sliceMs);
  }

  return {
    advance,
    arrival(atMs: number): void {
      advance(atMs);
      current.arrivals += 1;
    },
    calls(atMs: number, { calls, failed }: { calls: number; failed: number }): void {
      advance(atMs);
      current.calls += calls;
      current.failed += failed;
    },
    latency(atMs: number, latencyMs: number): void {
      advance(atMs);
      latencies.record(latencyMs);
    },
    /** The last whole slice. */
    last: (): Slice | undefined => slices.at(-1),
    /** Closes the slice that is being filled, where something is in it. */
    finish(atMs: number): void {
      advance(atMs);
      if (atMs > fromMs && (current.calls > 0 || current.arrivals > 0)) close(atMs);
    },
    slices: (): readonly Slice[] => slices,
  };
}
