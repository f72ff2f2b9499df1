import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { findProgram } from "../../scripts/processes/find-program.ts";
import { reservePort } from "../../scripts/processes/reserved-port.ts";
import { type RunningRedis, startRedis as startServer } from "../../scripts/processes/start-redis.ts";
import type { Teardown } from "../../scripts/processes/teardown.ts";
import { startParentWatch } from "../../scripts/processes/watch-parent.ts";

export type RedisUnderTest = {
  url: string;
  port: number;
  pid: number;
  /** SIGKILL: what was not yet on disk is lost. */
  kill(): Promise<void>;
  stop(): Promise<void>;
  /** Starts it again on the same port with the same data. */
  restart(): Promise<void>;
};

const endWithinMs = 10_000;

/** A real redis-server of its own on a free loopback port, with AOF, gone when the test ends. */
export async function startRedis(t: Teardown): Promise<RedisUnderTest> {
  const program = await findProgram({ names: ["redis-server", "valkey-server"], path: process.env["PATH"] });
  if (program === undefined)
    throw new Error("redis-server is not installed: sh scripts/processes/install-redis.sh");
  const folder = await mkdtemp(join(tmpdir(), "tollgate-redis-"));
  const watch = await startParentWatch();

  const port = await reservePort();

  async function launch(): Promise<RunningRedis> {
    const started = await startServer({
      program: program ?? "",
      env: process.env,
      folder,
      onLine: () => {},
      port,
      onChild: ({ pid }) => watch.remember(pid),
    });
    if ("failed" in started) throw new Error(started.failed);
    return started;
  }

  let redis = await launch();
  const { url } = redis;
  const kill = async () => {
    redis.child.kill();
    await redis.child.ended;
    watch.forget(redis.child.pid);
  };
  t.teardown(async () => {
    await kill();
    await watch.stop();
    await rm(folder, { recursive: true, force: true });
  });
  return {
    url,
    port,
    get pid() {
      return redis.child.pid;
    },
    kill,
    async stop() {
      // One that a test has stopped with SIGSTOP takes SIGTERM only when it runs.
      if (redis.child.running()) process.kill(redis.child.pid, "SIGCONT");
      await redis.child.stop({ withinMs: endWithinMs });
    },
    async restart() {
      redis = await launch();
    },
  };
}
