import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { type Child, runChild } from "../processes/run-child.ts";

export const projectRoot = fileURLToPath(new URL("../..", import.meta.url));

type Environment = Readonly<Record<string, string | undefined>>;

/** Starts one of the project's scripts. */
export async function startScript({
  script,
  args = [],
  env,
  onLine = () => {},
}: {
  /** From the project's root. */
  script: string;
  args?: readonly string[];
  env: Environment;
  onLine?: (line: string) => void;
}): Promise<Child> {
  const child = await runChild({
    name: script,
    program: process.execPath,
    args: ["--disable-warning=ExperimentalWarning", join(projectRoot, script), ...args],
    env,
    onLine,
  });
  if ("failed" in child) throw new Error(child.failed);
  return child;
}

/** Runs one to its end; `text` is what it wrote. */
export async function runScript(command: {
  script: string;
  args: readonly string[];
  env: Environment;
}): Promise<{ code: number; text: string }> {
  const lines: string[] = [];
  const child = await startScript({ ...command, onLine: (line) => lines.push(line) });
  const { code } = await child.ended;
  return { code: code ?? 1, text: lines.join("\n") };
}
