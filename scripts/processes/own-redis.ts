import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { findProgram } from "./find-program.ts";
import { reservePort } from "./reserved-port.ts";
import { type RunningRedis, startRedis } from "./start-redis.ts";
import type { Teardown } from "./teardown.ts";
import { startParentWatch } from "./watch-parent.ts";

export type OwnRedis = {
  url: string;
  port: number;
  pid: number;
  /** Where its append-only file lives. */
  folder: string;
  isRunning(): boolean;
  /** SIGSTOP and SIGCONT: it accepts connections (the kernel does) and answers nothing. */
  freeze(): void;
  thaw(): void;
  /** Kills it with SIGKILL: writes that are not on disk are lost. */
  kill(): Promise<void>;
  stop(): Promise<void>;
  /** Starts it again on the same port with the same data. */
  restart(): Promise<void>;
};

const endWithinMs = 10_000;

/** A real redis-server with AOF on a loopback port that it keeps. It and its data go when its owner ends. */
export async function startOwnRedis(
  t: Teardown,
  {
    appendfsync = "everysec",
    keepsNothing = false,
    users = [],
    more = [],
    program: given,
    port: givenPort,
  }: {
    appendfsync?: "everysec" | "always";
    /** On disk: for measurements. */
    keepsNothing?: boolean;
    /** Its ACL users beside the default one, who may do everything: a line each, with password and rights. */
    users?: readonly string[];
    /** Further arguments of redis-server. */
    more?: readonly string[];
    /** By default the server that is installed. */
    program?: string;
    /** A reserved one; by default it reserves one. */
    port?: number;
  } = {},
): Promise<OwnRedis> {
  const program =
    given ?? (await findProgram({ names: ["redis-server", "valkey-server"], path: process.env["PATH"] }));
  if (program === undefined)
    throw new Error("redis-server is not installed: sh scripts/processes/install-redis.sh");
  const folder = await mkdtemp(join(tmpdir(), "tollgate-redis-"));
  const [watch, port] = await Promise.all([startParentWatch(), givenPort ?? reservePort()]);

  async function launch(): Promise<RunningRedis> {
    const started = await startRedis({
      program: program ?? "",
      env: process.env,
      folder,
      keepsNothing,
      appendfsync,
      more: [...users.flatMap((user) => ["--user", ...user.split(" ")]), ...more],
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
    folder,
    get pid() {
      return redis.child.pid;
    },
    isRunning: () => redis.child.running(),
    freeze: () => void process.kill(redis.child.pid, "SIGSTOP"),
    thaw: () => void process.kill(redis.child.pid, "SIGCONT"),
    kill,
    async stop() {
      // A process stopped by SIGSTOP takes SIGTERM only once it runs again.
      if (redis.child.running()) process.kill(redis.child.pid, "SIGCONT");
      await redis.child.stop({ withinMs: endWithinMs });
    },
    async restart() {
      redis = await launch();
    },
  };
}
