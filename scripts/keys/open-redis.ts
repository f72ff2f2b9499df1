import type { Redis } from "ioredis";
import { pino } from "pino";
import { CommandError } from "../../lib/cli/command.ts";
import { createRedisClient } from "../../lib/redis/redis-client.ts";
import { findRedisUrl } from "./find-redis-url.ts";

const connectTimeoutMs = 3_000;
const commandTimeoutMs = 5_000;

/** Connects to the Redis that a command line means. Throws a CommandError where it does not answer. */
export async function openRedis({
  name,
  ...meant
}: Omit<Parameters<typeof findRedisUrl>[0], "connect"> & {
  /** Shown by CLIENT LIST. */
  name: string;
}): Promise<Redis> {
  const url = await findRedisUrl({ ...meant, connect: (tried) => connect({ url: tried, name }) });
  const connected = await connect({ url, name });
  if ("redis" in connected) return connected.redis;
  throw new CommandError(
    `Redis at ${withoutPassword(url)} cannot be used (${connected.failed}); name another with --redis URL.`,
    { exitCode: 1 },
  );
}

/** A ready connection, or why there is none. */
async function connect({
  url,
  name,
}: {
  url: string;
  name: string;
}): Promise<{ redis: Redis } | { failed: string }> {
  const logger = pino({ level: "silent" });
  const redis = createRedisClient({ url, name, logger, commandTimeoutMs, connectTimeoutMs });
  const failed = await new Promise<string | undefined>((resolve) => {
    const timer = setTimeout(() => resolve(`no answer within ${connectTimeoutMs} ms`), connectTimeoutMs);
    const settle = (failure: string | undefined) => {
      clearTimeout(timer);
      resolve(failure);
    };
    redis.once("ready", () => settle(undefined));
    redis.once("error", (error: Error & { code?: string }) => settle(error.code ?? error.message));
  });
  if (failed === undefined) return { redis };
  redis.disconnect();
  return { failed };
}

function withoutPassword(url: string): string {
  const { protocol, host } = new URL(url);
  return `${protocol}//${host}`;
}
