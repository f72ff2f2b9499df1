import { runChild } from "../../scripts/processes/run-child.ts";
import type { Teardown } from "../../scripts/processes/teardown.ts";

export type CommandOutcome = {
  /** Null where a signal ended it. */
  code: number | null;
  /** What it wrote, to standard output and standard error. */
  lines: readonly string[];
};

/**
 * Runs a program to its end; one that is still running after `withinMs` or when the test ends is killed with all that
 * it started.
 */
export async function runCommand(
  t: Teardown,
  {
    program,
    args,
    env = process.env,
    withinMs = 60_000,
  }: {
    program: string;
    args: readonly string[];
    env?: Readonly<Record<string, string | undefined>>;
    withinMs?: number;
  },
): Promise<CommandOutcome> {
  const lines: string[] = [];
  const child = await runChild({ name: program, program, args, env, onLine: (line) => lines.push(line) });
  if ("failed" in child) throw new Error(child.failed);
  const kill = () => {
    if (child.running()) child.kill();
  };
  t.teardown(kill);
  const timer = setTimeout(kill, withinMs);
  const { code } = await child.ended;
  clearTimeout(timer);
  return { code, lines };
}
