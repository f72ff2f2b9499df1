import { Cluster, type Redis } from "ioredis";
import { z } from "zod";
import { nodeOf } from "../redis/cluster-client.ts";
import { keyChangesChannel, keyVersionKey } from "../redis/keys/api-keys.ts";
import type { RedisClient } from "../redis/redis-client.ts";
import { createHistoryWatch } from "./history-watch.ts";
import type { KeyHistory, KeyLoss } from "./key-history.ts";

export type KeyChangeHandlers = {
  /** The record of this key changed, or there is one now where there was none. */
  onChange: (hash: string) => void;
  /** The settings of this team changed, which concerns all keys of the team. */
  onTeamChange: (team: string) => void;
  /**
   * Something may have changed unheard: whatever is remembered must be asked again before it is trusted. Called after each
   * subscription too, the first one included.
   */
  onMayHaveMissed: () => void;
  /**
   * Keys that were there are missing: told at each look at Redis for as long as that is so, and once with `undefined`
   * when it is over. `missing` tells of those keys.
   */
  onLoss?: (loss: KeyLoss | undefined, missing: KeyHistory | undefined) => void;
};

export type KeyWatch = {
  /**
   * Number of the last change that was heard of. What `KeyStore.lookUp` answers may be remembered only if this is the same before
   * the question and after the answer: else a change may have passed it on the way, on the other connection.
   */
  version: () => number;
  /** The history of the keys when it was last seen whole: now, or before any went missing. */
  lastWhole: () => KeyHistory | undefined;
  /** What is missing now, by the last look. */
  loss: () => KeyLoss | undefined;
  /** Looks at Redis now, because something else seems to have gone missing. */
  look: () => void;
  /** Whether changes are heard at this moment. */
  subscribed: () => boolean;
  /** Ends the watch and its connection. */
  stop: () => void;
};

const changeSchema = z.union([
  z.object({ version: z.int(), hash: z.string() }),
  z.object({ version: z.int(), team: z.string() }),
  z.object({ version: z.int(), all: z.literal(true) }),
]);

const retryDelayMsMin = 20;
const retryDelayMsMax = 1_000;

/**
 * Listens for changes to keys and teams until `stop`, on a connection of its own (RESP3) that reconnects by itself.
 *
 * A published message can be lost (a connection that broke, a full output buffer), so each carries the number of its
 * change: one that is missing is noticed by the next message, or by comparing with Redis every `checkIntervalMs`.
 * The comparison is sent on the same connection, where Redis keeps the order: whatever was published before its
 * answer has arrived before it. It also proves that the connection is alive. After a lost connection
 * `onMayHaveMissed` is called in any case, because the Redis that answers now may be another one that has not seen every change (failover).
 *
 * In a cluster the connection goes to the node that has the keys, as known at each attempt: any node hears what is published, but
 * only there it comes before an answer. A node that no longer has them refuses the comparison (MOVED).
 */
export function watchKeys({
  redis,
  onChange,
  onTeamChange,
  onMayHaveMissed,
  onLoss = () => {},
  checkIntervalMs = 2_000,
  commandTimeoutMs = 1_000,
}: KeyChangeHandlers & {
  /** Where to connect to. */
  redis: RedisClient;
  checkIntervalMs?: number;
  commandTimeoutMs?: number;
}): KeyWatch {
  let version = 0;
  let subscribed = false;
  let checking = false;
  let checkAgain = false;
  let stopped = false;

  let connection: Redis | undefined;
  let attempts = 0;
  let opening: NodeJS.Timeout | undefined;
  const history = createHistoryWatch({
    connection() {
      if (connection === undefined) throw new Error("the keys' changes are not listened to");
      return connection;
    },
    version: () => version,
    onLoss,
  });
  open();
  const timer = setInterval(() => void check(), checkIntervalMs);
  timer.unref();

  function open(): void {
    const opened = connectForChanges({ redis, commandTimeoutMs });
    connection = opened;
    if (opened === undefined) {
      openLater();
      return;
    }
    // What follows an error is its end and a new attempt, and `subscribed` tells of it.
    opened.on("error", () => {});
    opened.on("end", () => {
      subscribed = false;
      openLater();
    });
    opened.on("ready", () => {
      attempts = 0;
      void subscribe(opened);
    });
    opened.on("message", (_channel, text) => hear(text));
  }

  function openLater(): void {
    if (stopped) return;
    attempts += 1;
    opening = setTimeout(open, Math.min(retryDelayMsMin * 2 ** attempts, retryDelayMsMax));
    opening.unref();
  }

  async function subscribe(opened: Redis) {
    try {
      await opened.subscribe(keyChangesChannel);
      version = await history.read();
      subscribed = true;
      onMayHaveMissed();
    } catch {
      reconnect();
    }
  }

  function hear(text: string) {
    const change = readChange(text);
    const next = change?.version === version + 1;
    if (change !== undefined) version = change.version;
    if (next) history.hear();
    if (change === undefined || !next || "all" in change) onMayHaveMissed();
    else if ("hash" in change) onChange(change.hash);
    else onTeamChange(change.team);
    // What is known of the keys must be what was there last, also where Redis is emptied a moment from now.
    void check();
  }

  async function check() {
    checkAgain = checking;
    if (!subscribed || checking) return;
    checking = true;
    const before = version;
    try {
      const stored = await history.read();
      // A message that came right behind the answer may have been heard already: then it lies between the two.
      if (stored < before || stored > version) {
        version = stored;
        onMayHaveMissed();
      }
    } catch {
      reconnect();
    } finally {
      checking = false;
      if (checkAgain) void check();
    }
  }

  /** Begins anew after a failed command, whose answer could still come and be taken for a later one's. */
  function reconnect() {
    subscribed = false;
    connection?.disconnect();
  }

  return {
    version: () => version,
    lastWhole: history.known,
    loss: history.loss,
    look: () => void check(),
    subscribed: () => subscribed,
    stop() {
      stopped = true;
      subscribed = false;
      clearInterval(timer);
      clearTimeout(opening);
      connection?.disconnect();
    },
  };
}

/** Undefined while no node of a cluster is known to have the keys. */
function connectForChanges({
  redis,
  commandTimeoutMs,
}: {
  redis: RedisClient;
  commandTimeoutMs: number;
}): Redis | undefined {
  const like = redis instanceof Cluster ? nodeOf(redis, keyVersionKey) : redis;
  return like?.duplicate({
    connectionName: `${like.options.connectionName ?? "tollgate"}-key-changes`,
    protocol: 3,
    lazyConnect: false,
    readOnly: false,
    autoResubscribe: false,
    autoResendUnfulfilledCommands: false,
    enableOfflineQueue: false,
    maxRetriesPerRequest: 0,
    commandTimeout: commandTimeoutMs,
    connectTimeout: commandTimeoutMs,
    // Each attempt looks anew where to connect to.
    retryStrategy: () => null,
  });
}

function readChange(text: string) {
  try {
    return changeSchema.parse(JSON.parse(text));
  } catch {
    return undefined;
  }
}
