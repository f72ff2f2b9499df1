import { spawn } from "node:child_process";
import { readLines } from "../../processes/read-lines.ts";

type Environment = Readonly<Record<string, string | undefined>>;

export type DockerOutcome = { out: readonly string[]; err: readonly string[] } & (
  | { ok: true }
  | { ok: false; why: string }
);

const lastLinesMax = 12;

/**
 * Runs `docker …` until it ends, or until `signal` is aborted. It has its own process group: a terminal's Ctrl-C
 * reaches only us, and we end docker in order.
 */
export async function runDocker({
  args,
  env,
  signal,
  onLine,
}: {
  args: readonly string[];
  env: Environment;
  signal?: AbortSignal;
  /** Gets the output of both streams, which the outcome then lacks. */
  onLine?: (line: string) => void;
}): Promise<DockerOutcome> {
  const child = spawn("docker", args, {
    detached: true,
    stdio: ["ignore", "pipe", "pipe"],
    env: { ...env },
    ...(signal === undefined ? {} : { signal }),
  });
  const [out, err]: [string[], string[]] = [[], []];
  const ended = new Promise<string | undefined>((resolve) => {
    child.once("error", (error) => resolve("code" in error ? String(error.code) : error.message));
    child.once("close", (code) => resolve(code === 0 ? undefined : `exit code ${code}`));
  });
  await Promise.all([
    readLines({ stream: child.stdout, onLine: onLine ?? ((line) => out.push(line)) }),
    readLines({ stream: child.stderr, onLine: onLine ?? ((line) => err.push(line)) }),
  ]);
  const failure = await ended;
  if (failure === undefined) return { ok: true, out, err };
  const words = err.length === 0 ? failure : err.slice(-lastLinesMax).join("\n");
  return { ok: false, why: words, out, err };
}
