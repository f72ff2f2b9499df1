export type Latency = ReturnType<typeof createLatency>;

const samplesKept = 256;
/** Weight of the newest sample. */
const newestShare = 0.2;
/** Slower makes no difference: the validator is passed over. */
const meanMsMax = 1000;
/** A mean that nothing renews is halved in this time. */
const forgetHalfMs = 400;

/** How long requests take: a moving mean to choose by, and the 95th percentile of the latest. */
export function createLatency() {
  const samples = new Float64Array(samplesKept);
  let count = 0;
  let meanMs = 0;
  let p95Ms = 0;
  let isSorted = true;
  let isRenewed = false;

  return {
    add(ms: number): void {
      samples[count % samplesKept] = ms;
      const capped = Math.min(ms, meanMsMax);
      meanMs = count === 0 ? capped : meanMs + (capped - meanMs) * newestShare;
      count += 1;
      isRenewed = true;
      isSorted = false;
    },
    /** 0 where nothing was measured. */
    meanMs: () => meanMs,
    p95Ms(): number {
      if (isSorted) return p95Ms;
      const known = samples.slice(0, Math.min(count, samplesKept)).sort();
      p95Ms = known[Math.floor(known.length * 0.95)] ?? 0;
      isSorted = true;
      return p95Ms;
    },
    /** Called as time passes. Without it a validator that was slow once would never get a call again. */
    age(elapsedMs: number): void {
      if (!isRenewed) meanMs *= 0.5 ** (elapsedMs / forgetHalfMs);
      isRenewed = false;
    },
    /** Measurements from before an outage say nothing about the time after it. */
    reset(): void {
      meanMs = 0;
    },
  };
}
