import { Cluster, Redis } from "ioredis";
import { createRedisClient, type RedisClient, waitForRedis } from "../../lib/redis/redis-client.ts";
import {
  aclRules,
  faucetRedisUsers,
  type RedisUserName,
  sharedRedisUsers,
} from "../../lib/redis/redis-users.ts";
import { findProgram } from "../../scripts/processes/find-program.ts";
import { type OwnRedis, startOwnRedis } from "../../scripts/processes/own-redis.ts";
import { type OwnRedisCluster, startRedisCluster } from "../../scripts/processes/redis-cluster.ts";
import type { Teardown } from "../../scripts/processes/teardown.ts";

/**
 * What stands in the place of Redis: `redis`, `valkey`, `cluster` (six nodes) or `valkey-cluster`, by TOLLGATE_TEST_REDIS. The suites of
 * limits, keys, filters and the faucet run with each of them (test/redis/suites.ts).
 */
const variant = process.env["TOLLGATE_TEST_REDIS"] ?? "redis";
if (!["redis", "valkey", "cluster", "valkey-cluster"].includes(variant))
  throw new Error(
    `TOLLGATE_TEST_REDIS: redis, valkey, cluster or valkey-cluster was expected, not ${variant}`,
  );

export const isCluster = variant.endsWith("cluster");
const isValkey = variant.startsWith("valkey");

export type RedisUnderTest = Pick<OwnRedis, "url" | "port" | "folder" | "kill" | "stop" | "restart"> & {
  /** SIGSTOP and SIGCONT: it accepts connections (the kernel does) and answers nothing. */
  freeze(): void;
  thaw(): void;
};

type Options = { appendfsync?: "everysec" | "always"; keepsNothing?: boolean };

/**
 * A real server of its own on a free loopback port, with AOF unless it keeps nothing, gone when the test ends. Its URL is the default
 * user's, who may do everything; `asUser` gives that of a process. The test fails where a user was refused a command or a key.
 */
export async function startRedis(t: Teardown, options: Options = {}): Promise<RedisUnderTest> {
  const program = await serverProgram();
  if (!isCluster) {
    const redis = await startOwnRedis(t, { ...options, program, users });
    ownHosts.add(new URL(redis.url).host);
    t.teardown(() => assertNothingRefused(redis.url));
    return underTest(redis, [], "");
  }
  const { url, nodes, settled } = await takeCluster(t, { ...options, program, users });
  ownHosts.add(new URL(url).host);
  const [first, ...others] = nodes.map(({ process }) => process);
  if (first === undefined) throw new Error("a cluster has nodes");
  t.teardown(async () => {
    for (const { process } of nodes) await assertNothingRefused(process.url);
  });
  const all = underTest(first, others, url);
  return {
    ...all,
    async restart() {
      await all.restart();
      await settled();
    },
  };
}

type ClusterOptions = NonNullable<Parameters<typeof startRedisCluster>[1]>;
const idleClusters: { cluster: OwnRedisCluster; options: string }[] = [];

let clustersOwner: Teardown | undefined;

/** By default clusters live as long as their file's tests; here for longer, where several files run in one process. */
export function endClustersWith(owner: Teardown): void {
  clustersOwner = owner;
}

/** A cluster that a test has used before, emptied, or a new one: six servers take a second or two to agree. */
async function takeCluster(t: Teardown, options: ClusterOptions): Promise<OwnRedisCluster> {
  const like = JSON.stringify(options);
  const at = idleClusters.findIndex((idle) => idle.options === like);
  // Not at the top: a child process of a test imports this file too, and tap keeps a process open.
  const { default: root } = await import("tap");
  const cluster =
    idleClusters.splice(at, at === -1 ? 0 : 1)[0]?.cluster ??
    (await startRedisCluster(clustersOwner ?? root, options));
  t.teardown(async () => {
    if (cluster.nodes.some(({ process }) => !process.isRunning())) return;
    await cluster.settled();
    for (const { admin } of cluster.nodes) {
      await admin.acl("LOG", "RESET");
      await admin.config("SET", "maxmemory", "0");
      const isMaster = String(await admin.info("replication")).includes("role:master");
      if (isMaster) await admin.flushall();
    }
    idleClusters.push({ cluster, options: like });
  });
  return cluster;
}

/** Of all users of the tests' servers. */
const password = "a-password-of-tests";

const profiles = ["production", "development"] as const;
type Profile = (typeof profiles)[number];

/** The ACL users that each Redis under test has; a gateway of the development profile has more rights, and so another user. */
const users: readonly string[] = [
  ...profiles.flatMap((profile) =>
    sharedRedisUsers(profile).map((user) => ({ ...user, name: nameOf(user.name, profile) })),
  ),
  ...faucetRedisUsers,
].map((user) => `${user.name} on >${password} ${aclRules(user)}`);

const ownHosts = new Set<string>();

/** The URL with which that process connects to a Redis of `startRedis`, with its rights alone; any other URL stays as it is. */
export function asUser(url: string, user: RedisUserName, profile: Profile = "production"): string {
  if (!URL.canParse(url)) return url;
  const given = new URL(url);
  if (!ownHosts.has(given.host) || given.username !== "") return url;
  const [protocol] = url.split("//");
  return `${protocol}//${nameOf(user, profile)}:${password}@${given.host}${given.pathname}${given.search}`;
}

function nameOf(user: RedisUserName, profile: Profile): string {
  // Only a gateway's rights differ.
  return profile === "production" || user.startsWith("faucet") ? user : `${user}-development`;
}

/** A server that a test has killed or hung tells nothing more. */
async function assertNothingRefused(url: string): Promise<void> {
  const redis = new Redis(url, {
    retryStrategy: () => null,
    lazyConnect: true,
    commandTimeout: 1000,
    connectTimeout: 1000,
  });
  redis.on("error", () => {});
  const entries = await redis
    .connect()
    .then(() => redis.acl("LOG", 100))
    .catch(() => []);
  redis.disconnect();
  if (Array.isArray(entries) && entries.length > 0)
    throw new Error(`Redis has refused: ${JSON.stringify(entries)}`);
}

/** Why a test that only a single Redis can have is left out; false where there is one. */
export const onlySingle = isCluster && "asks what only a single Redis has";

/** The server to start: with CI set one that is missing fails the test. */
export async function serverProgram(): Promise<string> {
  const names = isValkey ? ["valkey-server"] : ["redis-server", "valkey-server"];
  const program = await findProgram({ names, path: process.env["PATH"] });
  if (program === undefined) {
    throw new Error(
      isValkey
        ? "valkey-server is not installed: sh scripts/processes/install-valkey.sh FOLDER, then put FOLDER/bin on PATH"
        : "redis-server is not installed: sh scripts/processes/install-redis.sh",
    );
  }
  return program;
}

/** A connection for what a test itself looks at or does to Redis, which outlives a Redis that is killed. */
export async function connectAdmin(t: Teardown, url: string): Promise<RedisClient> {
  if (!isCluster) {
    const admin = new Redis(url, { retryStrategy: () => 50 });
    // A test that kills Redis is told by what follows.
    admin.on("error", () => {});
    t.teardown(() => admin.disconnect());
    return admin;
  }
  const logger = { info: () => {}, warn: () => {} };
  const admin = createRedisClient({
    url,
    name: "admin",
    logger,
    commandTimeoutMs: 5000,
    reconnectDelayMaxMs: 100,
  });
  t.teardown(() => admin.disconnect());
  await waitForRedis({ redis: admin, logger });
  return admin;
}

/** The servers that hold keys: one, or the masters of a cluster. */
export function mastersOf(redis: RedisClient): Redis[] {
  return redis instanceof Cluster ? redis.nodes("master") : [redis];
}

export async function flushAll(redis: RedisClient): Promise<void> {
  await Promise.all(mastersOf(redis).map((node) => node.flushall()));
}

export async function findKeys(redis: RedisClient, pattern: string): Promise<string[]> {
  const found = await Promise.all(mastersOf(redis).map((node) => node.keys(pattern)));
  return found.flat();
}

function underTest(first: OwnRedis, others: readonly OwnRedis[], url: string): RedisUnderTest {
  const all = [first, ...others];
  const each = async (act: (one: OwnRedis) => Promise<void>) => void (await Promise.all(all.map(act)));
  const signal = (name: NodeJS.Signals) => {
    for (const { pid } of all) process.kill(pid, name);
  };
  return {
    url: url === "" ? first.url : url,
    port: first.port,
    folder: first.folder,
    kill: () => each((one) => one.kill()),
    stop: () => each((one) => one.stop()),
    restart: () => each((one) => one.restart()),
    freeze: () => signal("SIGSTOP"),
    thaw: () => signal("SIGCONT"),
  };
}

/** Hears every command that is carried out, `source` is "lua" for those of scripts. */
export async function monitorAll(
  t: Teardown,
  redis: RedisClient,
  hear: (args: string[], source: string) => void,
): Promise<void> {
  for (const node of mastersOf(redis)) {
    const monitor = await node.monitor();
    t.teardown(() => monitor.disconnect());
    monitor.on("monitor", (_time: string, args: string[], source: string) => hear(args, source));
  }
}
