import { Redis } from "ioredis";
import { createBudgetStore } from "../../../gateway/limits/budget-store.ts";
import { createLimiter } from "../../../gateway/limits/limiter.ts";
import { hashApiKey } from "../../../lib/keys/api-key.ts";
import { createKeyStore } from "../../../lib/keys/key-store.ts";
import { keyIdsKey, keyRecordKey } from "../../../lib/redis/keys/api-keys.ts";
import { createRedisClient, waitForRedis } from "../../../lib/redis/redis-client.ts";
import { startOwnRedis } from "../../processes/own-redis.ts";
import type { Teardown } from "../../processes/teardown.ts";
import type { Measured } from "./measured.ts";

const silent = { info: () => {}, warn: () => {} };
const atOnce = 500;
const scripts = 100_000;
/** Of a key whose leases are counted: far above what makes a lease busy. */
const busyCallsPerSecond = 2000;
const busyForMs = 3000;

/** What keys and limits cost a real Redis of its own, with so many keys in it. Counts are a second of Redis's processor time. */
export async function measureRedis(
  t: Teardown,
  { keys, say }: { keys: number; say: (text: string) => void },
): Promise<Pick<Measured, "redis" | "leaseScripts">> {
  const { url } = await startOwnRedis(t, { keepsNothing: true });
  const redis = new Redis(url);
  const client = createRedisClient({ url, name: "bench", commandTimeoutMs: 60_000, logger: silent });
  t.teardown(() => {
    redis.disconnect();
    client.disconnect();
  });
  await waitForRedis({ redis: client, logger: silent });
  const store = createKeyStore({ redis: client });
  await store.setTeam({ name: "bench" });
  const created = await store.create({
    ...{ label: "a partner's key", team: "bench", permissions: ["rpc"], profile: "development" },
    qa: false,
  });
  if (!("secret" in created)) throw new Error(`no key was made: ${JSON.stringify(created)}`);
  const record = await redis.hgetall(keyRecordKey(hashApiKey(created.secret)));
  const hashes = (index: number) => index.toString(16).padStart(64, "0");

  const before = await used(redis);
  for (let at = 0; at < keys; at += 10_000) {
    const pipeline = redis.pipeline();
    for (let index = at; index < Math.min(keys, at + 10_000); index += 1) {
      const id = `k_${index.toString(36).padStart(12, "0")}`;
      pipeline.hset(keyRecordKey(hashes(index)), { ...record, id });
      pipeline.hset(keyIdsKey, id, hashes(index));
    }
    await pipeline.exec();
    if (at % 100_000 === 0) say(`${at + 10_000} of ${keys} keys`);
  }
  const filled = await used(redis);

  const lookUps = await perCpuSecond(redis, (index) => store.find(hashes((index * 7919) % keys)));
  const budgets = createBudgetStore({
    ...{ redis: client, processId: "bench", windowMs: 60_000, redisClock: "redis", now: Date.now },
  });
  const leases = await perCpuSecond(redis, (index) =>
    budgets.take({
      ...{ keyId: `key-${index % 20_000}`, team: `team-${index % 2000}`, limit: 1_000_000, teamCap: 0 },
      ...{ lease: index, wanted: 10, runs: [{ cost: 1, count: 1 }] },
    }),
  );
  const bytesPerKey = Math.round((filled.bytes - before.bytes) / keys);
  say(`${bytesPerKey} bytes a key; ${lookUps} look-ups, ${leases} leases a second of Redis's processor time`);
  const leaseScripts = {
    one: await countLeaseScripts({ redis, url, processes: 1 }),
    two: await countLeaseScripts({ redis, url, processes: 2 }),
  };
  say(`one busy key: ${leaseScripts.one} scripts a second from one process, ${leaseScripts.two} from two`);
  return { redis: { keys, bytesPerKey, lookUps, leases }, leaseScripts };
}

async function perCpuSecond(redis: Redis, ask: (index: number) => Promise<unknown>): Promise<number> {
  const before = await used(redis);
  for (let at = 0; at < scripts; at += atOnce) {
    await Promise.all(Array.from({ length: atOnce }, (_, index) => ask(at + index)));
  }
  return Math.round(scripts / ((await used(redis)).cpuSeconds - before.cpuSeconds));
}

async function used(redis: Redis): Promise<{ bytes: number; cpuSeconds: number }> {
  const text = `${await redis.info("memory")}\n${await redis.info("cpu")}`;
  const read = (name: string) => Number(new RegExp(`^${name}:([\\d.]+)`, "m").exec(text)?.[1]);
  return { bytes: read("used_memory"), cpuSeconds: read("used_cpu_sys") + read("used_cpu_user") };
}

/** The scripts that a key costs a second whose calls come in evenly over limiters of so many processes. */
async function countLeaseScripts({
  redis,
  url,
  processes,
}: {
  redis: Redis;
  url: string;
  processes: number;
}): Promise<number> {
  const clients = Array.from({ length: processes }, () =>
    createRedisClient({ url, name: "bench process", logger: silent }),
  );
  await Promise.all(clients.map((client) => waitForRedis({ redis: client, logger: silent })));
  const limiters = clients.map((client) => createLimiter({ redis: client, logger: silent }));
  const key = { keyId: `busy-${processes}`, team: "busy", limitPerMinute: 100_000_000, costs: [1] };
  const count = async () => {
    const calls = [...(await redis.info("commandstats")).matchAll(/^cmdstat_eval(?:sha)?:calls=(\d+)/gm)];
    return calls.reduce((sum, [, text]) => sum + Number(text), 0);
  };
  const before = await count();
  const startMs = performance.now();
  let asked = 0;
  while (performance.now() - startMs < busyForMs) {
    const due = ((performance.now() - startMs) / 1000) * busyCallsPerSecond;
    for (; asked < due; asked += 1) await limiters[asked % processes]?.charge(key);
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
  const scriptsRun = (await count()) - before;
  const seconds = (performance.now() - startMs) / 1000;
  for (const limiter of limiters) await limiter.stop();
  for (const client of clients) client.disconnect();
  return Math.round(scriptsRun / seconds);
}
