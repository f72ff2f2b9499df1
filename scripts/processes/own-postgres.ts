import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { findPostgres } from "./find-postgres.ts";
import { reservePort } from "./reserved-port.ts";
import { type RunningPostgres, startPostgres } from "./start-postgres.ts";
import type { Teardown } from "./teardown.ts";
import { startParentWatch } from "./watch-parent.ts";

export type OwnPostgres = {
  url: string;
  port: number;
  pid: number;
  /** SIGKILL of the server; its other processes end by themselves. */
  kill(): Promise<void>;
  stop(): Promise<void>;
  /** Starts it again on the same port with the same data. */
  restart(): Promise<void>;
};

const endWithinMs = 10_000;

/** A real PostgreSQL on a loopback port that it keeps. It and its data go when its owner ends. */
export async function startOwnPostgres(
  t: Teardown,
  { fsync = "off" }: { fsync?: "on" | "off" } = {},
): Promise<OwnPostgres> {
  const programs = await findPostgres();
  if ("missing" in programs) throw new Error(programs.missing);
  const folder = await mkdtemp(join(tmpdir(), "tollgate-postgres-"));
  const watch = await startParentWatch();
  const port = await reservePort();

  async function launch(): Promise<RunningPostgres> {
    if ("missing" in programs) throw new Error(programs.missing);
    const started = await startPostgres({
      programs,
      env: process.env,
      folder,
      fsync,
      port,
      onLine: () => {},
      onChild: ({ pid }) => watch.remember(pid),
    });
    if ("failed" in started) throw new Error(started.failed);
    return started;
  }

  let server = await launch();
  const kill = async () => {
    server.child.kill();
    await server.child.ended;
    watch.forget(server.child.pid);
  };
  t.teardown(async () => {
    await kill();
    await watch.stop();
    await rm(folder, { recursive: true, force: true });
  });
  return {
    url: server.url,
    port,
    get pid() {
      return server.child.pid;
    },
    kill,
    async stop() {
      await server.child.stop({ withinMs: endWithinMs });
    },
    async restart() {
      server = await launch();
    },
  };
}
