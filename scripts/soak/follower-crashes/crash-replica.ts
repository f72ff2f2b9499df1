import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import type { Fault } from "./draw-faults.ts";

const main = fileURLToPath(new URL("crash-main.ts", import.meta.url));
/** Node's compile cache, so that starts are quick. */
const cacheFolder = join(tmpdir(), "tollgate-compile-cache");

/** One follower process that restarts whenever it has killed itself. */
export function runCrashReplica({
  postgresUrl,
  chainUrl,
  lock,
  nextFault,
  strike,
}: {
  postgresUrl: string;
  chainUrl: string;
  lock: bigint;
  nextFault: () => Fault | undefined;
  /** Called at the fault's point: the process has killed itself, or waits until this resolves. */
  strike: (fault: Fault) => Promise<void>;
}): { stop(): Promise<void> } {
  let child: ChildProcess | undefined;
  let isStopped = false;
  let fault: Fault | undefined;

  const take = () => {
    fault = nextFault();
    return fault === undefined
      ? ""
      : `${fault.what === "kill" ? "kill" : "wait"}:${fault.point}:${fault.nth}`;
  };

  async function waits(waiting: ChildProcess): Promise<void> {
    if (fault !== undefined) await strike(fault);
    waiting.stdin?.write(`${take()}\n`);
  }

  async function run(): Promise<void> {
    while (!isStopped) {
      const started = spawn(process.execPath, ["--disable-warning=ExperimentalWarning", main], {
        env: {
          PATH: process.env["PATH"],
          NODE_COMPILE_CACHE: cacheFolder,
          CRASH_AT: take(),
          CRASH_POSTGRES: postgresUrl,
          CRASH_CHAIN: chainUrl,
          CRASH_LOCK: String(lock),
        },
        stdio: ["pipe", "pipe", "inherit"],
      });
      child = started;
      started.stdin?.on("error", () => {});
      if (started.stdout !== null) {
        createInterface({ input: started.stdout }).on("line", () => void waits(started));
      }
      const [code, signal] = await once(started, "exit");
      if (isStopped) return;
      if (signal !== "SIGKILL") throw new Error(`a follower ended by itself with ${code ?? signal}`);
      if (fault !== undefined) await strike(fault);
    }
  }

  const ended = run();
  // `stop` reports the failure.
  ended.catch(() => {});
  return {
    async stop() {
      isStopped = true;
      child?.kill("SIGKILL");
      await ended;
    },
  };
}
