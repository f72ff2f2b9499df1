import { spawn } from "node:child_process";
import { once } from "node:events";
import { Socket } from "node:net";
import { fileURLToPath } from "node:url";

export type ParentWatch = {
  remember(pid: number): void;
  forget(pid: number): void;
  /** Ends the watcher, which first ends the children that it still remembers. */
  stop(): Promise<void>;
};

/**
 * Starts the watcher, a small process that ends our children if we are killed first (watch-parent.sh). It does not keep
 * us running, and it ends when we end.
 */
export async function startParentWatch(): Promise<ParentWatch> {
  const script = fileURLToPath(new URL("watch-parent.sh", import.meta.url));
  // Its own process group: a signal that kills our group must not kill the watcher.
  const watcher = spawn("/bin/sh", [script], { detached: true, stdio: ["pipe", "ignore", "ignore"] });
  const ended = once(watcher, "close");
  ended.catch(() => {});
  // A killed watcher takes no more lines; nothing else depends on it.
  watcher.stdin.on("error", () => {});
  await once(watcher, "spawn");
  watcher.unref();
  if (watcher.stdin instanceof Socket) watcher.stdin.unref();
  return {
    remember: (pid) => void watcher.stdin.write(`+ ${pid}\n`),
    forget: (pid) => void watcher.stdin.write(`- ${pid}\n`),
    async stop() {
      watcher.ref();
      watcher.stdin.end();
      await ended;
    },
  };
}
