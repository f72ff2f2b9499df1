import { spawn } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { Agent } from "node:http";
import type { Test } from "tap";
import { z } from "zod";
import { waitFor } from "./wait-for.ts";

const placeSchema = z.object({
  name: z.string(),
  role: z.enum(["worker", "side"]),
  pid: z.number().nullable(),
  state: z.string(),
  deaths: z.number(),
});

const statusSchema = z.looseObject({
  state: z.string(),
  workers: z.object({
    processes: z.array(placeSchema),
    restart: z
      .object({ state: z.string(), replaced: z.number(), of: z.number(), problems: z.array(z.string()) })
      .nullable(),
  }),
  each: z.record(z.string(), z.record(z.string(), z.unknown()).nullable()),
  config: z.looseObject({ hash: z.string() }).optional(),
});

/** A service of several processes, by what its ops server tells. */
export function watchWorkers({ port, opsPort }: { port: number; opsPort: number }) {
  const opsUrl = `http://127.0.0.1:${opsPort}`;
  const status = async () => statusSchema.parse(await (await fetch(`${opsUrl}/status`)).json());
  const pidOf = async (name: string): Promise<number> => {
    const found = (await status()).workers.processes.find((place) => place.name === name);
    if (found?.pid === null || found === undefined) throw new Error(`${name} does not run`);
    return found.pid;
  };
  return {
    port,
    opsPort,
    url: `http://127.0.0.1:${port}/`,
    opsUrl,
    status,
    pidOf,
    metrics: async () => (await fetch(`${opsUrl}/metrics`)).text(),
    /** Resolves once this place has another process, and that one serves. */
    replaced: (name: string, oldPid: number, { withinMs = 60_000 }: { withinMs?: number } = {}) =>
      waitFor(
        `${name} is replaced`,
        async () => {
          const place = (await status()).workers.processes.find((found) => found.name === name);
          return place?.state === "serving" && place.pid !== oldPid ? place : undefined;
        },
        { withinMs },
      ),
  };
}

/** The hash of the configuration that a worker says it runs with. */
export function hashOf(each: Record<string, unknown> | null | undefined): unknown {
  const config = each?.["config"];
  return typeof config === "object" && config !== null && "hash" in config ? config.hash : undefined;
}

/** Sum of a metric over the lines with these labels. */
export function metricIn(text: string, name: string, labels = ""): number {
  return text
    .split("\n")
    .filter((line) => line.startsWith(`${name}{`) || line.startsWith(`${name} `))
    .filter((line) => line.includes(labels))
    .reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(" ") + 1)), 0);
}

/**
 * Calls on new connections and on kept ones, without a pause, until it is stopped. `call` resolves with what was wrong with an
 * answer, undefined where nothing was.
 */
export function startLoad(call: (agent: Agent | undefined) => Promise<string | undefined>) {
  const failures: string[] = [];
  let calls = 0;
  let isStopping = false;
  const agent = new Agent({ keepAlive: true, maxSockets: 4 });
  async function drive(kept: Agent | undefined): Promise<void> {
    while (!isStopping) {
      const on = kept === undefined ? "new" : "kept";
      try {
        const wrong = await call(kept);
        calls += 1;
        if (wrong !== undefined) failures.push(`${on}: ${wrong}`);
      } catch (error) {
        failures.push(`${on}: ${error}`);
      }
    }
  }
  const drivers = [agent, agent, agent, agent, undefined, undefined, undefined].map(drive);
  return {
    async stop() {
      isStopping = true;
      await Promise.all(drivers);
      agent.destroy();
      return { calls, failures };
    },
  };
}

const setting = "/proc/sys/net/ipv4/tcp_migrate_req";

/** Has this machine hand over connections until the test ends. False where it may not. */
export function allowMigration(t: Test): boolean {
  const read = () => readFileSync(setting, "utf8").trim();
  try {
    const before = read();
    if (before === "1") return true;
    writeFileSync(setting, "1");
    t.teardown(() => writeFileSync(setting, before));
    return read() === "1";
  } catch {
    return false;
  }
}

/** `restart` of a service's command line, asked at its ops server. */
export async function runRestart(
  main: string,
  ops: string,
): Promise<{ code: number | null; output: string }> {
  const child = spawn(process.execPath, [main, "restart", "--ops", ops], {
    stdio: ["ignore", "pipe", "pipe"],
  });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding("utf8").on("data", (chunk: string) => {
      output += chunk;
    });
  }
  const code = await new Promise<number | null>((resolve) => child.once("close", resolve));
  return { code, output };
}

/** Whether there is such a process. */
export function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}
