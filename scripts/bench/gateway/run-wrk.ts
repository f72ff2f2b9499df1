import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";
import { benchKeys } from "./bench-keys.ts";
import type { Rig } from "./rig.ts";
import type { Workload } from "./workloads.ts";
import { wrkScript } from "./wrk-script.ts";

export type LoadResult = {
  requests: number;
  seconds: number;
  p50Ms: number;
  p99Ms: number;
  /** Connections that failed, reads and writes that failed, requests without an answer in time, statuses above 399. */
  errors: number;
};

export type Load = {
  work: Workload;
  url: string;
  connections: number;
  seconds: number;
  /** Unique among the loads of one bench. */
  run: number;
  /** The mean pause between an answer and the next request of its connection; none where undefined. */
  thinkMs?: number;
};

const report = z.object({
  requests: z.number(),
  durationUs: z.number(),
  p50Us: z.number(),
  p99Us: z.number(),
  connect: z.number(),
  read: z.number(),
  write: z.number(),
  timeout: z.number(),
  status: z.number(),
});

/**
 * Sends a workload's requests from several processes at once: one cannot load several cores. They share the connections, and
 * take the numbers from `run` on. Latencies are those of the slowest.
 */
export async function runLoads(rig: Rig, load: Load, processes: number): Promise<LoadResult> {
  const connections = Math.max(1, Math.floor(load.connections / processes));
  const all = await Promise.all(
    Array.from({ length: processes }, (_, index) =>
      runWrk(rig, { ...load, connections, run: load.run + index }),
    ),
  );
  const sum = (figure: (one: LoadResult) => number) => all.reduce((total, one) => total + figure(one), 0);
  const most = (figure: (one: LoadResult) => number) => Math.max(...all.map(figure));
  return {
    requests: sum((one) => one.requests),
    seconds: most((one) => one.seconds),
    p50Ms: most((one) => one.p50Ms),
    p99Ms: most((one) => one.p99Ms),
    errors: sum((one) => one.errors),
  };
}

/** Sends a workload's requests with wrk for so long. @throws Error where wrk ends without its report. */
export async function runWrk(rig: Rig, load: Load): Promise<LoadResult> {
  const { work, url, connections, seconds, run, thinkMs } = load;
  const script = join(await rig.folderFor("wrk"), `requests-${run}.lua`);
  await writeFile(script, wrkScript({ work, keys: benchKeys.map(({ value }) => value), run, thinkMs }));
  const args = ["-t1", `-c${connections}`, `-d${seconds}s`, "-s", script, url];
  const written: string[] = [];
  const command = { program: rig.programs["wrk"] ?? "wrk", args };
  const wrk = await rig.start("wrk", command, { onLine: (line) => void written.push(line) });
  await wrk.ended;
  const line = written.find((text) => text.startsWith('{"requests"'));
  if (line === undefined) throw new Error(`wrk gave no report:\n${written.join("\n")}`);
  const { requests, durationUs, p50Us, p99Us, connect, read, write, timeout, status } = report.parse(
    JSON.parse(line),
  );
  return {
    requests,
    seconds: durationUs / 1e6,
    p50Ms: p50Us / 1000,
    p99Ms: p99Us / 1000,
    errors: connect + read + write + timeout + status,
  };
}
