import { setTimeout as sleep } from "node:timers/promises";
import { Redis } from "ioredis";
import { freePort } from "./free-port.ts";
import { type Child, runChild } from "./run-child.ts";

export type RunningRedis = { url: string; port: number; child: Child };

export type RedisOptions = {
  /** Names it in messages; "redis" unless there are several. */
  name?: string;
  program: string;
  env: Readonly<Record<string, string | undefined>>;
  /**
   * Where its append-only file lives, and what a replica is sent: that is written to the disk by one that keeps nothing, too. Without a
   * folder it would be the one where the program was started.
   */
  folder: string;
  /** No append-only file: for measurements. */
  keepsNothing?: boolean;
  /** Whether each write waits for the disk ("always"), or at most a second's are lost in a crash. */
  appendfsync?: "everysec" | "always";
  /** Further arguments of redis-server. */
  more?: readonly string[];
  /** The port of an earlier start; by default a free one. */
  port?: number;
  /** "notice" also says how many keys were loaded. */
  loglevel?: "warning" | "notice";
  onLine: (line: string) => void;
  /** Called with the process as soon as it runs, before it answers. */
  onChild?: (child: Child) => void;
};

const startsMax = 5;
const pollMs = 10;
/** Reading a large append-only file takes time. */
const readyWithinMs = 60_000;
const askTimeoutMs = 2000;

/**
 * Starts a Redis of our own on loopback. It resumes what `folder` holds, loses at most what `appendfsync` allows when it
 * is killed, and refuses writes rather than dropping keys when memory is short (`noeviction`).
 *
 * @returns the running server, or why it could not be started.
 */
export async function startRedis(options: RedisOptions): Promise<RunningRedis | { failed: string }> {
  for (let attempt = 1; ; attempt += 1) {
    const port = options.port ?? (await freePort());
    const started = await startOnce({ ...options, port });
    if ("url" in started) return started;
    const portWasTaken = options.port === undefined && started.failed.includes("Address already in use");
    if (!portWasTaken || attempt === startsMax) return started;
  }
}

async function startOnce({
  name = "redis",
  program,
  env,
  folder,
  keepsNothing = false,
  appendfsync = "everysec",
  more = [],
  port,
  loglevel = "warning",
  onLine,
  onChild,
}: RedisOptions & { port: number }): Promise<RunningRedis | { failed: string }> {
  const child = await runChild({
    name,
    program,
    args: [...redisArguments({ port, folder, keepsNothing, appendfsync, loglevel }), ...more],
    env,
    onLine,
  });
  if ("failed" in child) return child;
  onChild?.(child);
  const url = `redis://127.0.0.1:${port}`;
  const giveUpAt = Date.now() + readyWithinMs;
  while (child.running() && Date.now() < giveUpAt) {
    const answer = await askRedis(url);
    // Another server may have taken the port between our looking and our child's asking for it.
    if ("info" in answer && answer.info.includes(`process_id:${child.pid}\r`)) {
      if (answer.info.includes("loading:0")) return { url, port, child };
    }
    await sleep(pollMs);
  }
  await child.stop({ withinMs: 1000 });
  return { failed: `${program} did not start: ${await child.obituary()}` };
}

/** The server's INFO, or why it does not answer. */
export async function askRedis(url: string): Promise<{ info: string } | { failed: string }> {
  const redis = new Redis(url, {
    lazyConnect: true,
    retryStrategy: () => null,
    enableReadyCheck: false,
    connectTimeout: askTimeoutMs,
    commandTimeout: askTimeoutMs,
  });
  // Without a listener ioredis prints its errors; the rejected command says the same.
  redis.on("error", () => {});
  try {
    await redis.connect();
    return { info: await redis.info() };
  } catch (error) {
    return { failed: error instanceof Error ? error.message : String(error) };
  } finally {
    redis.disconnect();
  }
}

function redisArguments({
  port,
  folder,
  keepsNothing,
  appendfsync,
  loglevel,
}: Required<Pick<RedisOptions, "port" | "folder" | "keepsNothing" | "appendfsync" | "loglevel">>): string[] {
  return [
    ...["--port", String(port), "--bind", "127.0.0.1", "--daemonize", "no", "--supervised", "no"],
    ...["--save", "", "--maxmemory-policy", "noeviction", "--loglevel", loglevel, "--logfile", ""],
    ...["--dir", folder],
    ...(keepsNothing ? ["--appendonly", "no"] : ["--appendonly", "yes", "--appendfsync", appendfsync]),
  ];
}
