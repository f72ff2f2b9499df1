import { setTimeout as sleep } from "node:timers/promises";
import { Cluster } from "ioredis";
import t from "tap";
import { isClusterReady } from "../../lib/redis/cluster-client.ts";
import { createRedisClient, type RedisClient, waitForRedis } from "../../lib/redis/redis-client.ts";
import { waitFor } from "../helpers/wait-for.ts";
import { silent, startFailoverCluster } from "./failover-rig.ts";

/** Longer than a client tries the nodes that it knows, after which it begins anew from its configuration. */
const longMs = 1500;

t.test(
  "all nodes are away for a while: a client finds them again, and one that has never found them, too",
  async (t) => {
    const cluster = await startFailoverCluster(t);
    const each = (act: "kill" | "restart") => Promise.all(cluster.nodes.map(({ process }) => process[act]()));
    const connect = () => {
      const redis = createRedisClient({
        url: cluster.url,
        name: "test",
        logger: silent,
        reconnectDelayMaxMs: 100,
      });
      t.teardown(() => redis.disconnect());
      return redis;
    };
    const isReady = (redis: RedisClient) => redis instanceof Cluster && isClusterReady(redis);
    const before = connect();
    await waitForRedis({ redis: before, logger: silent });
    t.equal(await before.set("a", "1"), "OK");
    for (const awayMs of [0, longMs]) {
      await each("kill");
      await waitFor("noticed", () => !isReady(before));
      const meanwhile = connect();
      await sleep(awayMs);
      t.notOk(isReady(meanwhile), "nothing to connect to");
      await each("restart");
      await cluster.settled();
      for (const redis of [before, meanwhile]) {
        await waitFor("connected to all masters", () => isReady(redis), { withinMs: 15_000 });
        t.equal(await redis.get("a"), "1");
      }
    }
  },
);
