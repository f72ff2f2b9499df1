import { spawn } from "node:child_process";
import { once } from "node:events";
import { Socket } from "node:net";
import { fileURLToPath } from "node:url";

export type ParentWatch = {
  remember(pid: number): void;
  forget(pid: number): void;
  /** Ends the watcher; children that it still remembers are ended by it. */
  stop(): Promise<void>;
};

/**
 * Starts the small process that ends our children where we are killed before we can do so (watch-parent.sh). It does not
 * keep us running, and ends when we do.
 */
export async function startParentWatch(): Promise<ParentWatch> {
  const script = fileURLToPath(new URL("watch-parent.sh", import.meta.url));
  // A group of its own: what kills our group must not kill the one who cleans up after us.
  const watcher = spawn("/bin/sh", [script], { detached: true, stdio: ["pipe", "ignore", "ignore"] });
  const ended = once(watcher, "close");
  ended.catch(() => {});
  // A watcher that was killed takes no more lines. Nothing else depends on it.
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
