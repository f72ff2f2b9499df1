import { performance } from "node:perf_hooks";
import { type Command, Redis } from "ioredis";
import type { Logger } from "pino";

const reconnectDelayMinMs = 50;

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
  url: string;
  /** Shown by CLIENT LIST: the process and what the connection is for. */
  name: string;
  logger: Pick<Logger, "info" | "warn">;
  commandTimeoutMs?: number;
  connectTimeoutMs?: number;
  reconnectDelayMaxMs?: number;
}): Redis {
  const redis = new Redis(url, {
    connectionName: name,
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

/** Resolves when the connection is ready, and says every `sayEveryMs` that it is still waited for. */
export async function waitForRedis({
  redis,
  logger,
  sayEveryMs = 5000,
}: {
  redis: Redis;
  logger: Pick<Logger, "info" | "warn">;
  sayEveryMs?: number;
}): Promise<void> {
  if (redis.status === "ready") return;
  const timer = setInterval(() => logger.warn({ redis: redis.status }, "waiting for Redis"), sayEveryMs);
  try {
    await new Promise<void>((resolve) => redis.once("ready", resolve));
  } finally {
    clearInterval(timer);
  }
}

type Unanswered = {
  command: Command;
  dueMs: number;
  connection: Redis["stream"];
  bytesReadBefore: number;
  next: Unanswered | undefined;
};

/**
 * Replaces ioredis's `commandTimeout` and `socketTimeout`, which blame Redis for our own pauses: after a long
 * garbage collection their timers run before the socket is read, and answers that lie in the kernel's buffer count as
 * missing. Here a command that is due gets one more turn of the event loop, in which the socket is read.
 */
function limitAnswerTime({ redis, commandTimeoutMs }: { redis: Redis; commandTimeoutMs: number }): void {
  const send = redis.sendCommand.bind(redis);
  let first: Unanswered | undefined;
  let last: Unanswered | undefined;
  let armed = false;

  redis.sendCommand = (command, stream) => {
    const answer = send(command, stream);
    if (!command.isSettled) remember(command);
    return answer;
  };

  function remember(command: Command): void {
    forgetAnswered();
    const connection = redis.stream;
    const entry: Unanswered = {
      command,
      dueMs: performance.now() + commandTimeoutMs,
      connection,
      bytesReadBefore: connection?.bytesRead ?? 0,
      next: undefined,
    };
    if (first === undefined || last === undefined) first = entry;
    else last.next = entry;
    last = entry;
    if (!armed) arm(commandTimeoutMs);
  }

  // Redis answers in order, so what is settled stands in front.
  function forgetAnswered(): void {
    while (first?.command.isSettled) first = first.next;
  }

  function arm(delayMs: number): void {
    armed = true;
    setTimeout(() => setImmediate(failLate), delayMs).unref();
  }

  function failLate(): void {
    armed = false;
    const nowMs = performance.now();
    for (forgetAnswered(); first !== undefined && first.dueMs <= nowMs; forgetAnswered()) {
      const { command, connection, bytesReadBefore } = first;
      const error = new RedisSilentError(commandTimeoutMs);
      command.reject(error);
      // A slow server still sends something and keeps its connection: late answers are matched by their order.
      if (connection?.bytesRead === bytesReadBefore) connection.destroy(error);
    }
    if (first !== undefined) arm(first.dueMs - nowMs);
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
    logger.warn({ connection: name, error: error.message }, "Redis connection failed");
  });
  redis.on("ready", () => {
    lastSaid = undefined;
    logger.info({ connection: name }, "Redis connection ready");
  });
}

/** Doubles from 50 ms up to the cap; the random half keeps many processes from coming back at the same moment. */
function reconnectDelayMs(attempt: number, capMs: number): number {
  const delayMs = Math.min(capMs, reconnectDelayMinMs * 2 ** Math.min(attempt - 1, 16));
  return delayMs / 2 + (Math.random() * delayMs) / 2;
}

/** A command was sent and not answered in time. It may have been carried out. */
export class RedisSilentError extends Error {
  override readonly name = "RedisSilentError";

  constructor(commandTimeoutMs: number) {
    super(`Redis did not answer within ${commandTimeoutMs} ms`);
  }
}
