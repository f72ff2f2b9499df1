import { setTimeout as sleep } from "node:timers/promises";
import { Worker } from "node:worker_threads";
import type { Teardown } from "../../processes/teardown.ts";
import type { QuietKind, QuietSample, QuietTask } from "./quiet-client.ts";

export type Latency = { count: number; p50Ms: number; p99Ms: number };

/** Collects the quiet client's calls by the time at which they were made. */
export function watchQuietClient(t: Teardown, task: QuietTask) {
  let samples: QuietSample[] = [];
  const worker = new Worker(new URL("./quiet-client.ts", import.meta.url), { workerData: task });
  t.teardown(() => worker.terminate());
  worker.on("message", (sample: QuietSample) => samples.push(sample));
  const of = (kind: QuietKind, untilMs: number): Latency => {
    const times = samples
      .filter((sample) => sample.kind === kind && sample.askedAtMs <= untilMs)
      .map(({ tookMs }) => tookMs);
    times.sort((a, b) => a - b);
    const at = (share: number) => Math.round((times[Math.floor(times.length * share)] ?? 0) * 10) / 10;
    return { count: times.length, p50Ms: at(0.5), p99Ms: at(0.99) };
  };
  return {
    clear(): void {
      samples = [];
    },
    /** The calls since the last `clear`. Calls in flight are waited for. */
    async latencies(): Promise<Record<QuietKind, Latency>> {
      const untilMs = Date.now();
      const isAnswered = (kind: QuietKind) =>
        samples.some((sample) => sample.kind === kind && sample.askedAtMs > untilMs);
      while (!isAnswered("read") || !isAnswered("call")) await sleep(20);
      return { read: of("read", untilMs), call: of("call", untilMs) };
    },
    failures: (): string[] =>
      samples.flatMap(({ kind, tookMs, failure }) =>
        failure === undefined ? [] : [`${kind} after ${Math.round(tookMs)} ms: ${failure}`],
      ),
  };
}
