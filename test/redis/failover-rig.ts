import { setTimeout as sleep } from "node:timers/promises";
import type { Test } from "tap";
import { hashSlot } from "../../lib/redis/hash-slot.ts";
import { createRedisClient, type RedisClient, waitForRedis } from "../../lib/redis/redis-client.ts";
import { type OwnRedisCluster, startRedisCluster } from "../../scripts/processes/redis-cluster.ts";
import { serverProgram } from "../helpers/redis.ts";
import { waitFor } from "../helpers/wait-for.ts";

export const silent = { info: () => {}, warn: () => {} };

/** Six nodes of which a replica takes its master's place within three seconds. */
export async function startFailoverCluster(t: Test): Promise<OwnRedisCluster> {
  return startRedisCluster(t, { program: await serverProgram(), nodeTimeoutMs: 1000, appendfsync: "always" });
}

export async function connectTo(t: Test, url: string, commandTimeoutMs = 1000): Promise<RedisClient> {
  const redis = createRedisClient({
    url,
    name: "test",
    logger: silent,
    commandTimeoutMs,
    reconnectDelayMaxMs: 100,
  });
  t.teardown(() => redis.disconnect());
  await waitForRedis({ redis, logger: silent });
  return redis;
}

/** Kills the master of a key's slot for good, and waits until its replica has its place. */
export async function failOver(cluster: OwnRedisCluster, key: string): Promise<void> {
  const slot = hashSlot(key);
  const master = await cluster.ownerOf(slot);
  const [replica] = await cluster.replicasOf(master);
  await master.process.kill();
  await waitFor("a replica has taken over", async () => {
    // Nobody has it for a moment.
    const owner = await cluster.ownerOf(slot).catch(() => undefined);
    return owner !== undefined && owner === replica;
  });
}

/** Moves a key's slot to the next master and so on, as often as told, with pauses in which both have a part of it. */
export async function moveAround(cluster: OwnRedisCluster, key: string, times: number): Promise<void> {
  const masters = cluster.nodes.slice(0, 3);
  for (let move = 0; move < times; move += 1) {
    const owner = await cluster.ownerOf(hashSlot(key));
    const next = masters[(masters.indexOf(owner) + 1) % masters.length];
    if (next === undefined) throw new Error("a cluster has masters");
    await cluster.moveSlot(hashSlot(key), next, { keysAtOnce: 1, between: () => sleep(20) });
  }
}
