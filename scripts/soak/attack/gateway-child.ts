import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { Teardown } from "../../processes/teardown.ts";

export type GatewayChild = {
  readonly url: string;
  readonly port: number;
  readonly opsUrl: string;
  /** Resident memory, in bytes; 0 once the process has ended. */
  residentBytes(): number;
  /** How it ended, with its last lines; undefined while it runs. */
  ended(): string | undefined;
};

const startsWithinMs = 60_000;
const outputCharsMax = 4_000;

/**
 * Starts the gateway of the checkout in `tree` as a process, with the configuration shipped there: attacks meet what
 * operators run. Killed when the test ends.
 */
export async function startGatewayChild(
  t: Teardown,
  {
    tree,
    redisUrl,
    upstreams,
    processes,
  }: {
    /** The folder of a checkout with its packages installed. */
    tree: string;
    redisUrl: string;
    upstreams: readonly string[];
    /** How many gateways share the validators. */
    processes: number;
  },
): Promise<GatewayChild> {
  const folder = mkdtempSync(join(tmpdir(), "tollgate-attacked-"));
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  const file = join(folder, "gateway.yaml");
  writeFileSync(file, shippedConfig({ tree, processes }));

  const child = spawn(
    process.execPath,
    ["--disable-warning=ExperimentalWarning", join(tree, "gateway/main.ts"), "--config", file],
    {
      cwd: tree,
      env: {
        PATH: process.env["PATH"],
        HOME: process.env["HOME"],
        REDIS_URL: redisUrl,
        UPSTREAMS: upstreams.join(","),
        GATEWAY_PORT: "0",
        GATEWAY_OPS_PORT: "0",
      },
      stdio: ["ignore", "pipe", "pipe"],
    },
  );
  let output = "";
  let end: string | undefined;
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding("utf8").on("data", (text: string) => {
      // The line with the ports is among the first lines; the cause of an end is among the last.
      output = output.length > outputCharsMax ? output.slice(-outputCharsMax) + text : output + text;
    });
  }
  const closed = new Promise<void>((resolve) => {
    child.once("close", (code, signal) => {
      end = `ended with ${signal ?? code}: ${output.slice(-outputCharsMax)}`;
      resolve();
    });
  });
  t.teardown(async () => {
    child.kill("SIGKILL");
    await closed;
  });

  const deadlineMs = performance.now() + startsWithinMs;
  for (;;) {
    const ports = readPorts(output);
    if (ports !== undefined) {
      return {
        url: `http://127.0.0.1:${ports.port}`,
        port: ports.port,
        opsUrl: `http://127.0.0.1:${ports.opsPort}`,
        residentBytes: () => (end === undefined ? readResidentBytes(child.pid) : 0),
        ended: () => end,
      };
    }
    if (end !== undefined) throw new Error(`the gateway ${end}`);
    if (performance.now() > deadlineMs) throw new Error(`the gateway does not start: ${output}`);
    await sleep(20);
  }
}

function shippedConfig({ tree, processes }: { tree: string; processes: number }): string {
  const shipped = readFileSync(join(tree, "config/gateway.yaml"), "utf8");
  const changed = shipped
    // On a busy machine a slow command does not mean that Redis is down.
    .replace(/^redisCommandTimeoutMs: .*$/m, "redisCommandTimeoutMs: 5000")
    .replace(/^ {2}processes: .*$/m, `  processes: ${processes}`)
    .replace(/^methodsFile: .*$/m, `methodsFile: ${join(tree, "config/methods.yaml")}`);
  if (!changed.includes(`processes: ${processes}`)) throw new Error("forward.processes is not where it was");
  return changed;
}

function readPorts(output: string): { port: number; opsPort: number } | undefined {
  const line = output.split("\n").find((text) => text.includes('"gateway is up"') && text.endsWith("}"));
  return line === undefined ? undefined : JSON.parse(line);
}

/** From /proc, since a gateway that is under attack may be slow to answer on its ops port. */
function readResidentBytes(pid: number | undefined): number {
  try {
    const status = readFileSync(`/proc/${pid}/status`, "utf8");
    return Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1] ?? 0) * 1024;
  } catch {
    return 0;
  }
}
