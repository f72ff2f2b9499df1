import { spawn } from "node:child_process";
import { once } from "node:events";

/** Does its work while no other process of this machine holds the file's lock (flock(1)), which ends with this process. */
export async function withFileLock<Value>(file: string, work: () => Promise<Value>): Promise<Value> {
  const holder = spawn("flock", [file, "sh", "-c", "echo locked; exec cat"], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  const ended = once(holder, "close");
  await Promise.race([once(holder.stdout, "data"), ended.then(() => Promise.reject(new Error("no lock")))]);
  try {
    return await work();
  } finally {
    holder.stdin.end();
    await ended;
  }
}
