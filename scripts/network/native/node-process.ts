import { spawn } from "node:child_process";
import { mkdir, open, readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { kill } from "node:process";
import { setTimeout as sleep } from "node:timers/promises";
import { z } from "zod";
import { processFile } from "../../../genesis/write-network.ts";
import { processIdentity } from "../../processes/process-identity.ts";

/** A node's process, which outlives the command that started it. */
export type NodeProcess = {
  readonly logFile: string;
  /** Its number, which is also its group's, while it runs. */
  pid(): Promise<number | undefined>;
  start(command: {
    program: string;
    args: readonly string[];
    env: Readonly<Record<string, string | undefined>>;
  }): Promise<{ failed: string } | undefined>;
  stop(): Promise<void>;
};

const recordSchema = z.object({ pid: z.int().positive(), identity: z.string() });

/** Besu closes its database on SIGTERM; what takes longer than this is ended with SIGKILL. */
const stopWithinMs = 30_000;
const releasedWithinMs = 2000;
const pollMs = 50;
/** At a start a log longer than this replaces the previous old log. */
const logBytesMax = 20 * 1024 * 1024;

/**
 * The process whose number and identity `folder` holds. Only a process that was started from here is ever stopped:
 * another process with the same number has another identity.
 */
export function createNodeProcess({ folder }: { folder: string }): NodeProcess {
  const recordFile = join(folder, processFile);
  const logFile = join(folder, "besu.log");

  async function readRecord() {
    try {
      return recordSchema.parse(JSON.parse(await readFile(recordFile, "utf8")));
    } catch {
      return undefined;
    }
  }

  /** Undefined unless the process with the number is ours. */
  async function runningPid(): Promise<number | undefined> {
    const record = await readRecord();
    if (record === undefined) return undefined;
    return (await processIdentity(record.pid)) === record.identity ? record.pid : undefined;
  }

  async function note(pid: number): Promise<void> {
    const identity = (await processIdentity(pid)) ?? "";
    await writeFile(`${recordFile}.new`, JSON.stringify({ pid, identity }));
    await rename(`${recordFile}.new`, recordFile);
  }

  async function openLog() {
    await mkdir(folder, { recursive: true });
    const found = await stat(logFile).catch(() => undefined);
    if ((found?.size ?? 0) > logBytesMax) await rename(logFile, `${logFile}.before`);
    return open(logFile, "a");
  }

  return {
    logFile,
    pid: runningPid,

    async start({ program, args, env }) {
      const log = await openLog();
      try {
        // A group of its own: it must outlive us, and signals for it must reach what it starts.
        const child = spawn(program, args, {
          detached: true,
          stdio: ["ignore", log.fd, log.fd],
          env: { ...env },
          cwd: folder,
        });
        const failure = await new Promise<string | undefined>((resolve) => {
          child.once("spawn", () => resolve(undefined));
          child.once("error", (error) => resolve(error.message));
        });
        if (failure !== undefined || child.pid === undefined) {
          return { failed: `${program}: ${failure ?? "no process"}` };
        }
        child.unref();
        await note(child.pid);
        return undefined;
      } finally {
        await log.close();
      }
    },

    async stop() {
      const pid = await runningPid();
      if (pid !== undefined) {
        signalGroup(pid, "SIGTERM");
        const giveUpAt = Date.now() + stopWithinMs;
        while ((await runningPid()) !== undefined) {
          if (Date.now() > giveUpAt) signalGroup(pid, "SIGKILL");
          await sleep(pollMs);
        }
        await released(pid);
      }
      await rm(recordFile, { force: true });
    },
  };
}

/**
 * Waits until a process's number is free, for a limited time. The first thread may have ended while others still hold
 * the ports; the ports are free when the number is, which needs the parent to reap the process.
 */
async function released(pid: number): Promise<void> {
  const giveUpAt = Date.now() + releasedWithinMs;
  while (Date.now() < giveUpAt) {
    try {
      kill(pid, 0);
    } catch {
      return;
    }
    await sleep(pollMs);
  }
}

function signalGroup(pid: number, signal: NodeJS.Signals): void {
  try {
    kill(-pid, signal);
  } catch {
    // ESRCH: the process has ended meanwhile.
  }
}
