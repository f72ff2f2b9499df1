import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import type { Test } from "tap";

const root = fileURLToPath(new URL("../..", import.meta.url));

export type NodeProcess = ReturnType<typeof runNodeProcess>;

/** `node MAIN` of the project with these arguments, killed when the test ends. */
export function runNodeProcess(
  t: Test,
  main: string,
  { args, env = {} }: { args: readonly string[]; env?: Readonly<Record<string, string>> },
) {
  const child = spawn(process.execPath, ["--disable-warning=ExperimentalWarning", main, ...args], {
    cwd: root,
    // Nothing of the environment that a configuration reads, but what the test gives.
    env: { PATH: process.env["PATH"], ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding("utf8").on("data", (text: string) => {
      output += text;
    });
  }
  const ended = once(child, "close").then(([code]) => ({ code, output }));
  t.teardown(async () => {
    child.kill("SIGKILL");
    await ended;
  });
  return { output: () => output, ended, kill: (signal: NodeJS.Signals) => child.kill(signal) };
}
