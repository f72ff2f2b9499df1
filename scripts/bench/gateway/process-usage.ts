import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { workerMark } from "../../../lib/workers/messages.ts";

/** What /proc tells of a running process (Linux). An ended process counts as nothing. */

/** USER_HZ: the ticks of /proc are hundredths of a second on every Linux. */
const ticksPerSecond = 100;

/** All processes of a process group: a program and what it has started. */
export function processesOf(group: number): number[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => Number(statFields(pid)[2]) === group);
}

/** The children of a process, which may have process groups of their own. */
export function childrenOf(parent: number): number[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => Number(statFields(pid)[1]) === parent);
}

/** The name that a primary has given this process; undefined: no primary has started it. */
export function workerNameOf(pid: number): string | undefined {
  const entry = readText(`/proc/${pid}/environ`)
    .split("\0")
    .find((text) => text.startsWith(`${workerMark}=`));
  return entry?.slice(workerMark.length + 1);
}

/** User and system time of these processes so far, over all threads. */
export function cpuSeconds(pids: readonly number[]): number {
  let ticks = 0;
  for (const pid of pids) {
    const fields = statFields(pid);
    ticks += Number(fields[11] ?? 0) + Number(fields[12] ?? 0);
  }
  return ticks / ticksPerSecond;
}

/** Peak memory of these processes since the last reset, without page tables (VmHWM). */
export function peakMemoryBytes(pids: readonly number[]): number {
  let kilobytes = 0;
  for (const pid of pids) {
    kilobytes += Number(/^VmHWM:\s*(\d+) kB$/m.exec(readText(`/proc/${pid}/status`))?.[1] ?? 0);
  }
  return kilobytes * 1024;
}

/** Resets the peak (proc(5), clear_refs). */
export function resetPeakMemory(pids: readonly number[]): void {
  for (const pid of pids) writeFileSync(`/proc/${pid}/clear_refs`, "5");
}

/** The fields of /proc/PID/stat behind the name, which may hold anything: state, parent, group and so on. */
function statFields(pid: number): string[] {
  const text = readText(`/proc/${pid}/stat`);
  return text.slice(text.lastIndexOf(")") + 2).split(" ");
}

function readText(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return "";
  }
}
