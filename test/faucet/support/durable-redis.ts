import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { askRedis } from "../../../scripts/dev/start-redis.ts";
import { freePort } from "../../helpers/free-port.ts";
import type { Teardown } from "../../helpers/teardown.ts";

export type DurableRedis = {
  url: string;
  /** kill -9, and a start on the same port with what is on disk. */
  crash(): Promise<void>;
};

/** A redis-server that has on disk whatever it has answered: `appendfsync always`, as the faucet asks for. */
export async function startDurableRedis(t: Teardown): Promise<DurableRedis> {
  const folder = await mkdtemp(join(tmpdir(), "tollgate-durable-"));
  const port = await freePort();
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
  };
}
