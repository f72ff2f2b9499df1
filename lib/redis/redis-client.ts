import { setTimeout as sleep } from "node:timers/promises";
import { type Cluster, Redis } from "ioredis";
import type { Logger } from "pino";
import { createClusterClient, isClusterReady } from "./cluster-client.ts";
import { limitAnswerTime } from "./limit-answer-time.ts";
import { reconnectDelayMs } from "./reconnect-delay.ts";
import { readRedisAddress } from "./redis-address.ts";
import { redisTrouble } from "./redis-trouble.ts";

/** A connection to one Redis, or to all nodes of a cluster. Commands are the same; scripts go through `runScript`. */
export type RedisClient = Redis | Cluster;

/** How long a start waits for the rest of a cluster of which a part answers. */
const wholeClusterWithinMs = 1000;
const clusterPollMs = 10;

/**
 * A connection to Redis for requests that must not wait: a command is answered within `commandTimeoutMs` or fails, and
 * a command that failed is never sent again (it may have been carried out).
 *
 * - While there is no connection, commands fail at once. It reconnects for ever, with growing delays.
 * - A server that accepts and does not answer (stopped, hung, network gone) is found by the first command that it
 *   leaves without an answer: the connection is destroyed, every command on it fails, and a new one is tried.
 * - Subscriptions are not renewed by the client: subscribe on every `ready` event. ioredis forgets them for good
 *   where the connection breaks between its `ready` and the answer to its own SUBSCRIBE, and that command's failure
 *   would reach nobody.
 *
 * Not for blocking commands (BLPOP, XREAD BLOCK) unless `commandTimeoutMs` is longer than they block. `duplicate()`
 * makes a client without these rules: create another one instead.
 */
export function createRedisClient({
  url,
  name,
  logger,
  commandTimeoutMs = 250,
  connectTimeoutMs = 1000,
  reconnectDelayMaxMs = 1000,
}: {
  /** See `readRedisAddress`. */
  url: string;
  /** Shown by CLIENT LIST: the process and what the connection is for. */
  name: string;
  logger: Pick<Logger, "info" | "warn">;
  commandTimeoutMs?: number;
  connectTimeoutMs?: number;
  reconnectDelayMaxMs?: number;
}): RedisClient {
  const address = readRedisAddress(url);
  if ("expected" in address) throw new Error(address.expected);
  if (address.kind === "cluster") {
    const timing = { commandTimeoutMs, connectTimeoutMs, reconnectDelayMaxMs };
    return createClusterClient({ address, name, logger, ...timing });
  }
  const { tls } = address;
  const redis = new Redis(address.url, {
    ...(tls === undefined ? {} : { tls }),
    connectionName: name,
    // CLIENT SETINFO is new in Redis 7.2, and users of least rights may not send what we do not need.
    disableClientInfo: true,
    lazyConnect: true,
    enableOfflineQueue: false,
    autoResendUnfulfilledCommands: false,
    autoResubscribe: false,
    // Zero makes what waits for an answer fail with the connection, instead of at its own timeout.
    maxRetriesPerRequest: 0,
    connectTimeout: connectTimeoutMs,
    retryStrategy: (attempt) => reconnectDelayMs(attempt, reconnectDelayMaxMs),
    // A primary that became a replica refuses writes: whoever answers at the address now may be the new primary.
    reconnectOnError: (error) => error.message.startsWith("READONLY"),
  });
  limitAnswerTime({ redis, commandTimeoutMs });
  logConnection({ redis, name, logger });
  // A failed attempt is logged by the "error" event and followed by the next one.
  redis.connect().catch(() => {});
  return redis;
}

/**
 * Resolves when the connection is ready (of a cluster all nodes that can be had), and says every `sayEveryMs` that it is
 * still waited for. Rejects when `signal` is aborted; without it a server that never comes is waited for for ever, and the
 * process lives on.
 */
export async function waitForRedis({
  redis,
  logger,
  sayEveryMs = 5000,
  signal,
}: {
  redis: RedisClient;
  logger: Pick<Logger, "info" | "warn">;
  sayEveryMs?: number;
  signal?: AbortSignal;
}): Promise<void> {
  if (redis instanceof Redis && redis.status === "ready") return;
  const timer = setInterval(() => logger.warn({ redis: redis.status }, "waiting for Redis"), sayEveryMs);
  try {
    await (redis instanceof Redis ? untilReady(redis, signal) : untilClusterReady(redis, signal));
  } finally {
    clearInterval(timer);
  }
}

function untilReady(redis: Redis, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    redis.once("ready", resolve);
    signal?.addEventListener("abort", () => reject(signal.reason), { once: true });
  });
}

async function untilClusterReady(cluster: Cluster, signal: AbortSignal | undefined): Promise<void> {
  let partlySinceMs: number | undefined;
  while (!isClusterReady(cluster)) {
    const isPartly =
      cluster.status === "ready" && cluster.nodes("master").some(({ status }) => status === "ready");
    partlySinceMs = isPartly ? (partlySinceMs ?? performance.now()) : undefined;
    if (partlySinceMs !== undefined && performance.now() - partlySinceMs > wholeClusterWithinMs) return;
    await sleep(clusterPollMs, undefined, signal === undefined ? {} : { signal });
  }
}

function logConnection({
  redis,
  name,
  logger,
}: {
  redis: Redis;
  name: string;
  logger: Pick<Logger, "info" | "warn">;
}): void {
  let lastSaid: string | undefined;
  redis.on("error", (error: Error) => {
    // Every attempt fails alike while Redis is down: one line for each kind of failure is enough.
    if (error.message === lastSaid) return;
    lastSaid = error.message;
    logger.warn(
      { connection: name, error: error.message, hint: redisTrouble(error) },
      "Redis connection failed",
    );
  });
  redis.on("ready", () => {
    lastSaid = undefined;
    logger.info({ connection: name }, "Redis connection ready");
  });
}
