import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { promisify } from "node:util";

export type Cores = {
  /** The cores that every proxy runs on. */
  proxy: readonly number[];
  /** Where load, validators and Redis run: all others, or the same one where there is no other. */
  load: readonly number[];
};

/**
 * Splits the cores of this process. The first core usually serves interrupts too, so the proxy gets another one where
 * there is one. It gets as many as `wanted` where at least as many are left for the load, else one.
 */
export function splitCores(allowed: readonly number[], wanted = 1): Cores {
  const count = allowed.length >= 2 * wanted ? wanted : 1;
  const proxy = allowed.length === 0 ? [0] : allowed.slice(-count);
  const others = allowed.slice(0, -count);
  return { proxy, load: others.length === 0 ? proxy : others };
}

export function allowedCores(): number[] {
  const status = readFileSync("/proc/self/status", "utf8");
  return parseCoreList(/^Cpus_allowed_list:\s*(\S+)$/m.exec(status)?.[1] ?? "0");
}

/** A list as Linux writes it: `0-2,5`. */
export function parseCoreList(text: string): number[] {
  return text.split(",").flatMap((range) => {
    const [first = 0, last = first] = range.split("-").map(Number);
    return Array.from({ length: last - first + 1 }, (_, offset) => first + offset);
  });
}

/** Moves a process to these cores; what it starts from then on runs there as well. */
export async function pinProcess(pid: number, cores: readonly number[]): Promise<void> {
  await promisify(execFile)("taskset", ["-a", "-c", "-p", cores.join(","), String(pid)]);
}
