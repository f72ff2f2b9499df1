import { once } from "node:events";
import { Cluster, type Redis } from "ioredis";
import type { Logger } from "pino";
import { hashSlot, slotsCount } from "./hash-slot.ts";
import { limitAnswerTime } from "./limit-answer-time.ts";
import { reconnectDelayMs } from "./reconnect-delay.ts";
import type { RedisAddress } from "./redis-address.ts";
import { redisTrouble } from "./redis-trouble.ts";

/** How often nodes are asked who has which slots: always, and while one of them is away. */
const refreshEveryMs = 5000;
const refreshAgainMs = 100;
const redirectsMax = 8;
const pauseBeforeTryAgainMs = 10;
const guestReadyWithinMs = 500;

/**
 * A client of a Redis Cluster by the rules of `createRedisClient`, for each node. A command that a node has not carried out, by
 * its own word (MOVED, ASK, TRYAGAIN), goes to where it belongs. Every other failure is the caller's: a command whose answer was
 * lost is never sent again.
 *
 * Nodes are connected to as soon as they are known, and who has which slots is asked anew as soon as one of them goes away.
 */
export function createClusterClient({
  address: { nodes, username, password, tls },
  name,
  logger,
  commandTimeoutMs,
  connectTimeoutMs,
  reconnectDelayMaxMs,
}: {
  address: Extract<RedisAddress, { kind: "cluster" }>;
  name: string;
  logger: Pick<Logger, "info" | "warn">;
  commandTimeoutMs: number;
  connectTimeoutMs: number;
  reconnectDelayMaxMs: number;
}): Cluster {
  const cluster = new Cluster(nodes, {
    lazyConnect: true,
    enableOfflineQueue: false,
    scaleReads: "master",
    maxRedirections: redirectsMax,
    // Zero: what waits for a node's answer fails with its connection. It may have been carried out.
    retryDelayOnFailover: 0,
    retryDelayOnClusterDown: 0,
    retryDelayOnTryAgain: pauseBeforeTryAgainMs,
    slotsRefreshTimeout: connectTimeoutMs,
    clusterRetryStrategy: (attempt) => reconnectDelayMs(attempt, reconnectDelayMaxMs),
    // Without it a node that was away for a moment is connected to again only by a command, which fails.
    clusterNodeRetryStrategy: (attempt) => reconnectDelayMs(attempt, reconnectDelayMaxMs),
    redisOptions: {
      disableClientInfo: true,
      connectionName: name,
      autoResendUnfulfilledCommands: false,
      autoResubscribe: false,
      maxRetriesPerRequest: 0,
      connectTimeout: connectTimeoutMs,
      ...(username === undefined ? {} : { username }),
      ...(password === undefined ? {} : { password }),
      ...(tls === undefined ? {} : { tls }),
    },
  });
  const refresh = createRefresh(cluster);
  // Not by ioredis' slotsRefreshInterval: a round that is under way at a disconnect goes on for ever, and with it the process.
  const rounds = setInterval(() => {
    if (cluster.status === "ready") cluster.refreshSlotsCache();
  }, refreshEveryMs);
  rounds.unref();
  cluster.on("+node", (node: Redis) => {
    nodesOf(cluster).set(addressOf(node), node);
    guestsOf(cluster).get(addressOf(node))?.disconnect();
    limitAnswerTime({ redis: node, commandTimeoutMs });
    node.on("close", refresh);
    // A failed attempt is told by "node error", and followed by the next.
    node.connect().catch(() => {});
  });
  cluster.on("-node", (node: Redis) => {
    if (nodesOf(cluster).get(addressOf(node)) === node) nodesOf(cluster).delete(addressOf(node));
  });
  cluster.on("end", () => {
    clearInterval(rounds);
    for (const guest of guestsOf(cluster).values()) guest.disconnect();
  });
  // ioredis waits for its nodes' connections to end, and one that waits for its next attempt has none to end: where a try to
  // connect or to disconnect has come to nothing, it would never try again.
  const endWhereNothingIsLeft = (status: Cluster["status"]) => {
    const timer = setTimeout(() => {
      if (cluster.status === status && cluster.nodes("all").length === 0) cluster.emit("close");
    }, refreshAgainMs);
    timer.unref();
  };
  cluster.on("disconnecting", () => endWhereNothingIsLeft("disconnecting"));
  cluster.on("error", () => {
    if (cluster.status === "connecting") endWhereNothingIsLeft("connecting");
  });
  logCluster({ cluster, name, logger });
  cluster.connect().catch(() => {});
  return cluster;
}

/** The node that has a key's slot, as far as is known. It may not be connected to. */
export function nodeOf(cluster: Cluster, key: string): Redis | undefined {
  const owner = cluster.slots[hashSlot(key)]?.[0];
  return owner === undefined ? undefined : nodesOf(cluster).get(owner);
}

/**
 * The node at `host:port`, once it is connected to: at once where it has slots, else (it is about to get its first one) on a
 * connection of its own, which lasts until it has. Undefined where it cannot be had in time.
 */
export async function nodeAt(cluster: Cluster, address: string): Promise<Redis | undefined> {
  const known = nodesOf(cluster).get(address);
  if (known !== undefined) return known;
  const guests = guestsOf(cluster);
  const [like] = nodesOf(cluster).values();
  const colon = address.lastIndexOf(":");
  const guest =
    guests.get(address) ??
    like?.duplicate({
      host: address.slice(0, colon),
      port: Number(address.slice(colon + 1)),
      lazyConnect: true,
    });
  if (guest === undefined || like === undefined) return undefined;
  if (!guests.has(address)) {
    guests.set(address, guest);
    limitAnswerTime({ redis: guest, commandTimeoutMs: guest.options.connectTimeout ?? 1000 });
    guest.on("error", () => {});
    guest.on("end", () => guests.delete(address));
    guest.connect().catch(() => {});
  }
  if (guest.status !== "ready")
    await once(guest, "ready", { signal: AbortSignal.timeout(guestReadyWithinMs) }).catch(() => {});
  return guest;
}

/** A node has said that another one has a slot now. */
export function slotMoved(cluster: Cluster, { slot, address }: { slot: number; address: string }): void {
  // The list of another slot that is there, with its replicas; never changed in place, for ioredis shares one among many slots.
  if (slot < slotsCount)
    cluster.slots[slot] = cluster.slots.find((owners) => owners?.[0] === address) ?? [address];
  cluster.refreshSlotsCache();
}

/** Whether a master has a replica that the cluster counts on, by the slot of a key. */
export function hasReplica(cluster: Cluster, key: string): boolean {
  return (cluster.slots[hashSlot(key)]?.length ?? 0) > 1;
}

/** Whether all nodes that have slots are connected to. */
export function isClusterReady(cluster: Cluster): boolean {
  const masters = cluster.status === "ready" ? cluster.nodes("master") : [];
  return masters.length > 0 && masters.every(({ status }) => status === "ready");
}

/** Asks the nodes soon who has which slots, and again until each is connected to. Anew from the start where none answers. */
function createRefresh(cluster: Cluster): () => void {
  let timer: NodeJS.Timeout | undefined;

  function refreshSoon(): void {
    if (timer !== undefined || cluster.status !== "ready") return;
    timer = setTimeout(refresh, refreshAgainMs);
    timer.unref();
  }

  function refresh(): void {
    if (cluster.status !== "ready") {
      timer = undefined;
      return;
    }
    cluster.refreshSlotsCache((error) => {
      timer = undefined;
      if (cluster.status !== "ready") return;
      // The nodes may have other addresses now: those of the configuration are looked up again. A node that has come back
      // since they were asked may owe answers by now, which would be lost with its connection.
      const isAnyReady = cluster.nodes("all").some(({ status }) => status === "ready");
      if (error?.name === "ClusterAllFailedError" && !isAnyReady) cluster.disconnect(true);
      else if (!isClusterReady(cluster)) refreshSoon();
    });
  }

  return refreshSoon;
}

const nodesOfClusters = new WeakMap<Cluster, Map<string, Redis>>();

/** The nodes by `host:port`. */
function nodesOf(cluster: Cluster): Map<string, Redis> {
  const known = nodesOfClusters.get(cluster) ?? new Map<string, Redis>();
  nodesOfClusters.set(cluster, known);
  return known;
}

const guestsOfClusters = new WeakMap<Cluster, Map<string, Redis>>();

/** Nodes that have no slot yet, by `host:port`. */
function guestsOf(cluster: Cluster): Map<string, Redis> {
  const known = guestsOfClusters.get(cluster) ?? new Map<string, Redis>();
  guestsOfClusters.set(cluster, known);
  return known;
}

function addressOf({ options: { host, port } }: Redis): string {
  return `${host}:${port}`;
}

function logCluster({
  cluster,
  name,
  logger,
}: {
  cluster: Cluster;
  name: string;
  logger: Pick<Logger, "info" | "warn">;
}): void {
  // Every attempt fails alike while a node is down: one line for each kind of failure is enough.
  const lastSaid = new Map<string, string>();
  const say = (node: string, error: Error) => {
    const { message } = error;
    if (lastSaid.get(node) === message) return;
    lastSaid.set(node, message);
    logger.warn(
      { connection: name, node, error: message, hint: redisTrouble(error) },
      "Redis connection failed",
    );
  };
  cluster.on("error", (error: Error) => say("all", error));
  cluster.on("node error", (error: Error, node: string) => say(node, error));
  cluster.on("unconfirmed", (node: Redis) =>
    logger.warn(
      { connection: name, node: addressOf(node) },
      "no replica confirms what this Redis node writes: a failover now may lose it",
    ),
  );
  cluster.on("confirmed", (node: Redis) =>
    logger.info(
      { connection: name, node: addressOf(node) },
      "a replica confirms this Redis node's writes again",
    ),
  );
  cluster.on("ready", () => logger.info({ connection: name }, "Redis Cluster connection ready"));
  cluster.on("+node", (node: Redis) => node.on("ready", () => lastSaid.delete(addressOf(node))));
  cluster.on("-node", (node: Redis) => lastSaid.delete(addressOf(node)));
}
