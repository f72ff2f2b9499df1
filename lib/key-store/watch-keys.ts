import type { Redis, RedisOptions } from "ioredis";
import { z } from "zod";
import { keyChangesChannel, keyVersionKey } from "../redis-keys.ts";

export type KeyChangeHandlers = {
  /** The record of this key changed, or there is one now where there was none. */
  onChange: (hash: string) => void;
  /** The settings of this team changed, which concerns all keys of the team. */
  onTeamChange: (team: string) => void;
  /** Something may have changed unheard: whatever is remembered must be asked again before it is trusted. */
  onVersionGap: () => void;
};

export type KeyWatch = {
  /**
   * Number of the last change that was heard of. What `find` answers may be remembered only if this is the same before
   * the question and after the answer: else a change may have passed it on the way, on the other connection.
   */
  version: () => number;
  /** Whether changes are heard at this moment. */
  subscribed: () => boolean;
  /** Ends the watch and its connection. */
  stop: () => void;
};

const changeSchema = z.union([
  z.object({ version: z.int(), hash: z.string() }),
  z.object({ version: z.int(), team: z.string() }),
]);

const retryDelayMsMax = 1_000;

/**
 * Listens for changes to keys and teams until `stop`, on a connection of its own (RESP3) that reconnects by itself.
 *
 * A published message can be lost (a connection that broke, a full output buffer), so each carries the number of its
 * change: one that is missing is noticed by the next message, or by comparing with Redis every `checkIntervalMs`.
 * The comparison is sent on the same connection, where Redis keeps the order: whatever was published before its
 * answer has arrived before it. It also proves that the connection is alive. After a lost connection a gap is reported
 * in any case, because the Redis that answers now may be another one that has not seen every change (failover).
 */
export function watchKeys({
  redis,
  onChange,
  onTeamChange,
  onVersionGap,
  checkIntervalMs = 2_000,
  commandTimeoutMs = 1_000,
}: KeyChangeHandlers & {
  /** Where to connect to. */
  redis: Redis;
  checkIntervalMs?: number;
  commandTimeoutMs?: number;
}): KeyWatch {
  let version = 0;
  let subscribed = false;
  let checking = false;
  let stopped = false;

  const overrides: RedisOptions = {
    connectionName: `${redis.options.connectionName ?? "tollgate"}-key-changes`,
    protocol: 3,
    lazyConnect: false,
    autoResubscribe: false,
    autoResendUnfulfilledCommands: false,
    enableOfflineQueue: false,
    maxRetriesPerRequest: 0,
    commandTimeout: commandTimeoutMs,
    connectTimeout: commandTimeoutMs,
    retryStrategy: (attempt) => Math.min(20 * 2 ** attempt, retryDelayMsMax),
  };
  const connection = redis.duplicate(overrides);
  // What follows an error is a close and a new attempt, and `subscribed` tells of it.
  connection.on("error", () => {});
  connection.on("close", () => {
    subscribed = false;
  });
  connection.on("ready", () => void subscribe());
  connection.on("message", (_channel, text) => hear(text));
  const timer = setInterval(() => void check(), checkIntervalMs);
  timer.unref();

  async function subscribe() {
    try {
      await connection.subscribe(keyChangesChannel);
      version = await readVersion();
      subscribed = true;
      onVersionGap();
    } catch {
      reconnect();
    }
  }

  function hear(text: string) {
    const change = readChange(text);
    const next = change?.version === version + 1;
    if (change !== undefined) version = change.version;
    if (change === undefined || !next) onVersionGap();
    else if ("hash" in change) onChange(change.hash);
    else onTeamChange(change.team);
  }

  async function check() {
    if (!subscribed || checking) return;
    checking = true;
    const before = version;
    try {
      const stored = await readVersion();
      // A message that came right behind the answer may have been heard already: then it lies between the two.
      if (stored < before || stored > version) {
        version = stored;
        onVersionGap();
      }
    } catch {
      reconnect();
    } finally {
      checking = false;
    }
  }

  async function readVersion(): Promise<number> {
    return Number((await connection.get(keyVersionKey)) ?? 0);
  }

  /** Begins anew after a failed command, whose answer could still come and be taken for a later one's. */
  function reconnect() {
    subscribed = false;
    if (!stopped && connection.status === "ready") connection.disconnect(true);
  }

  return {
    version: () => version,
    subscribed: () => subscribed,
    stop() {
      stopped = true;
      subscribed = false;
      clearInterval(timer);
      connection.disconnect();
    },
  };
}

function readChange(text: string) {
  try {
    return changeSchema.parse(JSON.parse(text));
  } catch {
    return undefined;
  }
}
