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

/** A slice with its whole histogram, so that those of several processes can be added. */
export type SliceText = Omit<Slice, "p50" | "p99" | "max"> & { latencies: string };

/** Counts by time. The first event or look after a slice's end closes it. Empty slices stay. */
export function createSeries({
  sliceMs,
  slicesMax,
  waiting,
  keepsHistograms = false,
}: {
  sliceMs: number;
  /** The oldest one goes when there would be more. */
  slicesMax: number;
  waiting: () => { inFlight: number; queued: number };
  keepsHistograms?: boolean;
}) {
  const slices: Slice[] = [];
  const texts: SliceText[] = [];
  const latencies = createLatencies();
  let fromMs = 0;
  let current = { arrivals: 0, calls: 0, failed: 0 };

  function close(toMs: number): void {
    const counts = { fromMs, toMs, ...current, ...waiting() };
    slices.push({
      ...counts,
      p50: latencies.percentile(50),
      p99: latencies.percentile(99),
      max: latencies.percentile(100),
    });
    if (slices.length > slicesMax) slices.shift();
    if (keepsHistograms) {
      texts.push({ ...counts, latencies: latencies.encode() });
      if (texts.length > slicesMax) texts.shift();
    }
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
    lastText: (): SliceText | undefined => texts.at(-1),
    /** Closes the slice that is being filled, where something is in it. */
    finish(atMs: number): void {
      advance(atMs);
      if (atMs > fromMs && (current.calls > 0 || current.arrivals > 0)) close(atMs);
    },
    slices: (): readonly Slice[] => slices,
    texts: (): readonly SliceText[] => texts,
  };
}

/** The series of several processes that began together, slice by slice. */
export function sumSeries(parts: readonly (readonly SliceText[])[]): Slice[] {
  const byStart = new Map<number, SliceText[]>();
  for (const slice of parts.flat()) byStart.set(slice.fromMs, [...(byStart.get(slice.fromMs) ?? []), slice]);
  return [...byStart.entries()]
    .sort(([left], [right]) => left - right)
    .map(([fromMs, slices]) => {
      const latencies = createLatencies({ isSum: true });
      for (const slice of slices) latencies.add(slice.latencies);
      const sum = (read: (slice: SliceText) => number) =>
        slices.reduce((total, slice) => total + read(slice), 0);
      return {
        fromMs,
        toMs: Math.max(...slices.map(({ toMs }) => toMs)),
        arrivals: sum(({ arrivals }) => arrivals),
        calls: sum(({ calls }) => calls),
        failed: sum(({ failed }) => failed),
        p50: latencies.percentile(50),
        p99: latencies.percentile(99),
        max: latencies.percentile(100),
        inFlight: sum(({ inFlight }) => inFlight),
        queued: sum(({ queued }) => queued),
      };
    });
}
