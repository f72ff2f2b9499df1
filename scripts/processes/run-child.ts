import { type ChildProcess, spawn } from "node:child_process";
import { kill } from "node:process";
import { setTimeout as sleep } from "node:timers/promises";
import { readLines } from "./read-lines.ts";

export type ChildEnd = { code: number | null; signal: NodeJS.Signals | null };

export type Child = {
  readonly name: string;
  readonly pid: number;
  /** Resolves when the process has ended and all its output is read. */
  readonly ended: Promise<ChildEnd>;
  running(): boolean;
  /** How it ended, with its last lines; for an ended process. */
  obituary(): Promise<string>;
  /** Sends SIGTERM, then SIGKILL after `withinMs`. */
  stop(options: { withinMs: number }): Promise<ChildEnd>;
  /** Sends SIGKILL. */
  kill(): void;
};

export type ChildCommand = {
  name: string;
  program: string;
  args: readonly string[];
  env: Readonly<Record<string, string | undefined>>;
  cwd?: string;
};

const lastLinesMax = 12;

/**
 * Starts a program in its own session and process group. So a terminal's Ctrl-C reaches only us, and we end our
 * children in order. Signals go to the whole group, so that nothing of it is left.
 * @returns the child, or why it could not be started.
 */
export async function runChild({
  name,
  program,
  args,
  env,
  cwd,
  onLine,
}: ChildCommand & { onLine: (line: string) => void }): Promise<Child | { failed: string }> {
  const child = spawn(program, args, {
    detached: true,
    stdio: ["ignore", "pipe", "pipe"],
    env: { ...env },
    ...(cwd === undefined ? {} : { cwd }),
  });
  const lines: string[] = [];
  const keepLine = (line: string) => {
    lines.push(line);
    if (lines.length > lastLinesMax) lines.shift();
    onLine(line);
  };
  const read = Promise.all(
    [child.stdout, child.stderr].map((stream) => readLines({ stream, onLine: keepLine })),
  );
  const exited = new Promise<ChildEnd>((resolve) =>
    child.once("exit", (code, signal) => resolve({ code, signal })),
  );
  const failure = await spawnFailure(child);
  const { pid } = child;
  if (failure !== undefined || pid === undefined) return { failed: `${program}: ${failure ?? "no process"}` };
  const running = () => child.exitCode === null && child.signalCode === null;
  // Processes that outlive the group's leader, such as workers, end too: they hold its pipes open.
  const ended = exited.then(async (end) => {
    signalGroup({ pid, signal: "SIGKILL" });
    await read;
    return end;
  });
  return {
    name,
    pid,
    ended,
    running,
    async obituary() {
      const end = await ended;
      return [
        `${name} ended (${end.signal === null ? `exit code ${end.code}` : `killed by ${end.signal}`})`,
        ...(lines.length === 0 ? [] : ["Its last lines:", ...lines.map((line) => `  ${line}`)]),
      ].join("\n");
    },
    kill() {
      if (running()) signalGroup({ pid, signal: "SIGKILL" });
    },
    async stop({ withinMs }) {
      if (running()) signalGroup({ pid, signal: "SIGTERM" });
      const waited = new AbortController();
      const late = sleep(withinMs, undefined, { signal: waited.signal }).then(
        () => {
          if (running()) signalGroup({ pid, signal: "SIGKILL" });
        },
        () => {},
      );
      const end = await ended;
      waited.abort();
      await late;
      return end;
    },
  };
}

function spawnFailure(child: ChildProcess): Promise<string | undefined> {
  return new Promise((resolve) => {
    child.once("spawn", () => resolve(undefined));
    child.once("error", (error) => resolve(error.message));
  });
}

function signalGroup({ pid, signal }: { pid: number; signal: NodeJS.Signals }): void {
  try {
    kill(-pid, signal);
  } catch {
    // ESRCH: the group is gone already. (macOS says EPERM for a group of zombies.)
  }
}
