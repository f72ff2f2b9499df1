import { existsSync } from "node:fs";
import { join } from "node:path";
import t from "tap";
import { startOwnRedis } from "../../../scripts/processes/own-redis.ts";
import { startRedisCluster } from "../../../scripts/processes/redis-cluster.ts";
import { connectAdmin } from "../../helpers/redis.ts";

const dump = "dump.rdb";

t.test("a Redis that keeps nothing writes what it must into a folder of its own", async (t) => {
  const redis = await startOwnRedis(t, { keepsNothing: true });
  const admin = await connectAdmin(t, redis.url);
  t.same(await admin.config("GET", "dir"), ["dir", redis.folder]);
  await admin.save();
  t.ok(existsSync(join(redis.folder, dump)));
  t.match(await admin.config("GET", "appendonly"), ["appendonly", "no"]);
});

t.test("so does each node of a cluster", async (t) => {
  const { nodes } = await startRedisCluster(t, { keepsNothing: true });
  const folders = nodes.map(({ process }) => process.folder);
  t.equal(new Set(folders).size, nodes.length);
  for (const { process } of nodes) {
    const admin = await connectAdmin(t, process.url);
    t.same(await admin.config("GET", "dir"), ["dir", process.folder]);
  }
});
