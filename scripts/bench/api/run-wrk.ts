import { execFile } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { z } from "zod";
import { cpuSeconds } from "../gateway/process-usage.ts";
import type { Server } from "./start-server.ts";

/** Requests that wrk sends in turn. */
export type Requests = {
  method?: "GET" | "POST";
  paths: readonly string[];
  headers?: Readonly<Record<string, string>>;
  body?: string;
};

export type Measured = { perCpuSecond: number; p50Ms: number; p99Ms: number };

const report = z.object({
  requests: z.number(),
  p50Us: z.number(),
  p99Us: z.number(),
  failed: z.number(),
});

/**
 * Sends these requests for the given time over the given connections.
 * @throws Error where one of them fails, or wrk ends without its report.
 */
export async function runWrk({
  server: { url, pid },
  requests,
  folder,
  connections,
  seconds,
}: {
  server: Server;
  requests: Requests;
  folder: string;
  connections: number;
  seconds: number;
}): Promise<Measured> {
  const script = join(folder, "requests.lua");
  await writeFile(script, scriptOf(requests));
  const before = cpuSeconds([pid]);
  // On a busy machine an answer can take longer than the 2 s that wrk waits.
  const args = ["-t1", `-c${connections}`, `-d${seconds}s`, "--timeout", "10s", "-s", script, url];
  const { stdout } = await promisify(execFile)("wrk", args);
  const used = cpuSeconds([pid]) - before;
  const line = stdout.split("\n").find((text) => text.startsWith('{"requests"'));
  if (line === undefined) throw new Error(`wrk gave no report:\n${stdout}`);
  const { requests: count, p50Us, p99Us, failed } = report.parse(JSON.parse(line));
  if (failed > 0 || count === 0) throw new Error(`${failed} of ${count} requests failed`);
  return { perCpuSecond: count / used, p50Ms: p50Us / 1000, p99Ms: p99Us / 1000 };
}

/** A JSON string of ASCII characters is a Lua string too. */
function scriptOf({ method = "GET", paths, headers = {}, body }: Requests): string {
  const fields = Object.entries(headers).map(
    ([name, value]) => `[${JSON.stringify(name)}]=${JSON.stringify(value)}`,
  );
  const text = body === undefined ? "nil" : JSON.stringify(body);
  return `
local paths, ready, at = { ${paths.map((path) => JSON.stringify(path)).join(", ")} }, {}, 0
function init()
  for index, path in ipairs(paths) do
    ready[index] = wrk.format(${JSON.stringify(method)}, path, { ${fields.join(", ")} }, ${text})
  end
end
function request()
  at = at % #ready + 1
  return ready[at]
end
function done(summary, latency)
  local failed = summary.errors
  io.write(string.format('{"requests":%d,"p50Us":%d,"p99Us":%d,"failed":%d}\\n', summary.requests,
    latency:percentile(50), latency:percentile(99),
    failed.connect + failed.read + failed.write + failed.timeout + failed.status))
end
`;
}
