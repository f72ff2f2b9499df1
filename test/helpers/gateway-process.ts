import { spawn } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Test } from "tap";
import { coreKey } from "./gateway.ts";
import { asUser } from "./redis.ts";
import { testFolder } from "./test-folder.ts";
import { waitFor } from "./wait-for.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));

export type ProcessEnd = {
  code: number | null;
  signal: NodeJS.Signals | null;
  output: string;
  afterMs: number;
};

export type GatewayProcess = {
  /** What it wrote so far, standard output and error together. */
  output(): string;
  kill(signal: NodeJS.Signals): void;
  /** `afterMs` counts from the last `kill`, else from the start. */
  ended: Promise<ProcessEnd>;
};

/**
 * `node gateway/main.ts` with these arguments, killed when the test ends. `descriptorsMax`: `ulimit -n`; `folder`: where its source is, for
 * another version.
 */
export function runGateway(
  t: Test,
  args: readonly string[],
  { descriptorsMax, folder = root }: { descriptorsMax?: number; folder?: string } = {},
): GatewayProcess {
  const script = join(folder, "gateway/main.ts");
  const command = [process.execPath, "--disable-warning=ExperimentalWarning", script, ...args];
  const limited = `ulimit -n ${descriptorsMax ?? "unlimited"} && exec "$0" "$@"`;
  const [file = "", ...rest] =
    descriptorsMax === undefined ? command : ["/bin/sh", "-c", limited, ...command];
  const child = spawn(file, rest, {
    cwd: folder,
    // Nothing of the environment that a configuration reads.
    env: { PATH: process.env["PATH"], HOME: process.env["HOME"] },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let output = "";
  let countedFrom = performance.now();
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding("utf8").on("data", (text: string) => {
      output += text;
    });
  }
  const ended = new Promise<ProcessEnd>((resolve) => {
    child.once("close", (code, signal) =>
      resolve({ code, signal, output, afterMs: performance.now() - countedFrom }),
    );
  });
  t.teardown(async () => {
    child.kill("SIGKILL");
    await ended;
  });
  return {
    output: () => output,
    kill(signal) {
      countedFrom = performance.now();
      child.kill(signal);
    },
    ended,
  };
}

/** Resolves with the ports of a gateway process once it serves. @throws Error where it ends before. */
export async function whenServing(
  gateway: GatewayProcess,
  { withinMs = 60_000 }: { withinMs?: number } = {},
): Promise<{ port: number; opsPort: number }> {
  let end: ProcessEnd | undefined;
  gateway.ended.then((ended) => {
    end = ended;
  });
  const line = await waitFor(
    "the gateway is up",
    () => {
      const found = gateway
        .output()
        .split("\n")
        .find((text) => text.includes('"gateway is up"'));
      if (found === undefined && end !== undefined)
        throw new Error(`the gateway ended with ${end.code}: ${end.output}`);
      return found;
    },
    { withinMs },
  );
  const { port, opsPort }: { port: number; opsPort: number } = JSON.parse(line);
  return { port, opsPort };
}

/** Writes a configuration on free ports (unless told otherwise) with one development key and gives its path. */
export function writeConfig(
  t: Test,
  {
    redisUrl,
    upstream,
    port = 0,
    opsPort = 0,
    more = "",
    file = join(testFolder(t), "gateway.yaml"),
  }: {
    redisUrl: string;
    upstream: string;
    port?: number;
    opsPort?: number;
    more?: string;
    /** Where there are several. */
    file?: string;
  },
): string {
  const lines = [
    `port: ${port}`,
    `ops: { port: ${opsPort} }`,
    `redis: ${asUser(redisUrl, "gateway", /^profile: production$/m.test(more) ? "production" : "development")}`,
    `upstreams: ${upstream}`,
    `methodsFile: ${join(root, "config/methods.yaml")}`,
    "keys:",
    "  - label: tests",
    "    team: tests",
    `    value: ${coreKey}`,
    "    permissions: [rpc]",
    "    limitPerMinute: 100000",
    more,
    // A busy machine is no fault of Redis.
    "redisCommandTimeoutMs: 5000",
  ];
  writeFileSync(file, `${lines.join("\n")}\n`);
  return file;
}
