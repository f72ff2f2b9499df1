import { runRealBesu } from "../../scripts/real-besu/run-real-besu.ts";
import { nodeEnvironment } from "./node-environment.ts";

type Options = Parameters<typeof runRealBesu>[0];

/** Plays the checks of docs/real-besu.md, the short way unless told otherwise. @returns the exit code and the lines that were printed. */
export async function playRealBesu({
  env = {},
  ...options
}: Omit<Options, "short" | "signal" | "print" | "env"> & Partial<Pick<Options, "env">>): Promise<{
  code: 0 | 1;
  lines: readonly string[];
}> {
  const lines: string[] = [];
  const code = await runRealBesu({
    short: true,
    ...options,
    env: { ...nodeEnvironment, ...env },
    signal: new AbortController().signal,
    print: (text) => lines.push(text),
  });
  return { code, lines };
}
