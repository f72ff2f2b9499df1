import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import type { Test } from "tap";
import { waitFor } from "./wait-for.ts";

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

/** Resolves with the ports of a service once it says that it is up. @throws Error where it ends before. */
export async function whenUp(
  name: string,
  { output, ended }: Pick<NodeProcess, "output" | "ended">,
): Promise<{ port: number; opsPort: number }> {
  let isOver = false;
  void ended.then(() => {
    isOver = true;
  });
  const line = await waitFor(
    `the ${name} is up`,
    () => {
      const found = output()
        .split("\n")
        .find((text) => text.includes(`"${name} is up"`));
      if (found === undefined && isOver) throw new Error(`the ${name} has ended: ${output()}`);
      return found;
    },
    // Of several processes, on a machine that may be busy.
    { withinMs: 150_000 },
  );
  return JSON.parse(line);
}
