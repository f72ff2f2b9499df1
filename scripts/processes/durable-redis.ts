import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readdir, rm, stat, truncate } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { reservePort } from "./reserved-port.ts";
import { askRedis } from "./start-redis.ts";
import type { Teardown } from "./teardown.ts";

export type DurableRedis = {
  url: string;
  /** kill -9, and a start on the same port with what is on disk. */
  crash(): Promise<void>;
  /** The same, on a disk that has lost the end of the append-only file: this share of it is left, 0 to 1. */
  crashTruncated(share: number): Promise<void>;
};

/** A redis-server that has on disk whatever it has answered: `appendfsync always`, as the faucet asks for. */
export async function startDurableRedis(t: Teardown): Promise<DurableRedis> {
  const folder = await mkdtemp(join(tmpdir(), "tollgate-durable-"));
  const port = await reservePort();
  const url = `redis://127.0.0.1:${port}`;
  let child: ChildProcess;

  async function launch(): Promise<void> {
    const args = [
      ...["--port", String(port), "--bind", "127.0.0.1", "--save", "", "--dir", folder],
      ...["--appendonly", "yes", "--appendfsync", "always", "--logfile", "", "--loglevel", "warning"],
    ];
    child = spawn("redis-server", args, { stdio: "ignore" });
    for (;;) {
      const answer = await askRedis(url);
      if ("info" in answer && answer.info.includes("loading:0")) return;
      if (child.exitCode !== null) throw new Error(`redis-server ended with ${child.exitCode}`);
    }
  }

  async function kill(): Promise<void> {
    if (child.exitCode !== null || child.signalCode !== null) return;
    const ended = once(child, "exit");
    child.kill("SIGKILL");
    await ended;
  }

  t.teardown(async () => {
    await kill();
    await rm(folder, { recursive: true, force: true });
  });
  await launch();
  return {
    url,
    async crash() {
      await kill();
      await launch();
    },
    async crashTruncated(share) {
      await kill();
      const files = (await readdir(join(folder, "appendonlydir"))).filter((name) =>
        name.endsWith(".incr.aof"),
      );
      const [name = ""] = files;
      if (files.length !== 1) throw new Error(`one file was expected: ${files.join()}`);
      const file = join(folder, "appendonlydir", name);
      await truncate(file, Math.floor((await stat(file)).size * share));
      await launch();
    },
  };
}
