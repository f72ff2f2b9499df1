import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { promisify } from "node:util";

const run = promisify(execFile);
const lookupTimeoutMs = 5000;

/**
 * Tells a running process from every other process with the same pid, before or after it: by its start time. Undefined
 * where no process has this pid.
 */
export async function processIdentity(pid: number): Promise<string | undefined> {
  if (await hasProc()) return identityFromProc(pid);
  const shown = await run("ps", ["-o", "stat=", "-o", "lstart=", "-p", String(pid)], {
    timeout: lookupTimeoutMs,
  }).catch(() => ({ stdout: "" }));
  const text = shown.stdout.trim();
  return text === "" || text.startsWith("Z") ? undefined : text.replace(/^\S+\s+/, "");
}

async function identityFromProc(pid: number): Promise<string | undefined> {
  const stat = await readFile(`/proc/${pid}/stat`, "utf8").catch(() => undefined);
  // proc(5): the name in parentheses may hold anything, also parentheses; state is field 3, start time field 22.
  const fields = stat?.slice(stat.lastIndexOf(")") + 2).split(" ");
  const [state, startTicks] = [fields?.[0], fields?.[19]];
  return state === undefined || startTicks === undefined || state === "Z" ? undefined : startTicks;
}

async function hasProc(): Promise<boolean> {
  return readFile("/proc/self/stat").then(
    () => true,
    () => false,
  );
}
