import { pino } from "pino";
import { CommandError } from "../../lib/cli/command.ts";
import { tellableAddress } from "../../lib/redis/redis-address.ts";
import { createRedisClient, type RedisClient, waitForRedis } from "../../lib/redis/redis-client.ts";
import { redisTrouble } from "../../lib/redis/redis-trouble.ts";
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
}): Promise<RedisClient> {
  const url = await findRedisUrl({ ...meant, connect: (tried) => connect({ url: tried, name }) });
  const connected = await connect({ url, name });
  if ("redis" in connected) return connected.redis;
  throw new CommandError(
    `Redis at ${tellableAddress(url)} cannot be used (${connected.failed}); name another with --redis URL.`,
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
}): Promise<{ redis: RedisClient } | { failed: string }> {
  const logger = pino({ level: "silent" });
  const redis = createRedisClient({ url, name, logger, commandTimeoutMs, connectTimeoutMs });
  const waiting = new AbortController();
  const failed = await new Promise<string | undefined>((resolve) => {
    const timer = setTimeout(() => resolve(`no answer within ${connectTimeoutMs} ms`), connectTimeoutMs);
    const settle = (failure: string | undefined) => {
      clearTimeout(timer);
      resolve(failure);
    };
    waitForRedis({ redis, logger, signal: waiting.signal }).then(
      () => settle(undefined),
      () => {},
    );
    redis.once("error", (error: Error & { code?: string }) =>
      settle(redisTrouble(error) ?? error.code ?? error.message),
    );
  });
  waiting.abort();
  if (failed === undefined) return { redis };
  redis.disconnect();
  return { failed };
}
