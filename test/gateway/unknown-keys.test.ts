import t, { type Test } from "tap";
import type { GatewayConfig } from "../../gateway/config.ts";
import { createApiKey } from "../../lib/keys/api-key.ts";
import { createKeyStore, type KeyStore } from "../../lib/keys/key-store.ts";
import type { RedisClient } from "../../lib/redis/redis-client.ts";
import { startStubValidator } from "../fakes/stub-validator.ts";
import { createKey, openKeyStore } from "../helpers/api-keys.ts";
import { type GatewayUnderTest, startGateway } from "../helpers/gateway.ts";
import { mastersOf, startRedis } from "../helpers/redis.ts";
import { startStopwatch } from "../helpers/stopwatch.ts";

const chainId = { jsonrpc: "2.0", id: 1, method: "eth_chainId" };
const lookUpsMax = { unknownPerSecondMax: 20, refusedPerSecondMax: 1, unknownKeysMax: 100 };

async function startRig(t: Test, keyLookUps: Partial<GatewayConfig["keyLookUps"]> = {}) {
  const redis = await startRedis(t);
  const validator = await startStubValidator(t);
  const { admin, store } = await openKeyStore(t, redis.url);
  const start = () =>
    startGateway(t, {
      redisUrl: redis.url,
      upstreams: [validator.url],
      change: (config) => ({
        ...config,
        trustedProxies: ["127.0.0.0/8"],
        limits: { ...config.limits, requestsPerMinute: 100 },
        keyLookUps: { ...config.keyLookUps, ...keyLookUps },
      }),
    });
  return { admin, store, start };
}

const create = (store: KeyStore) => createKey(store, { limitPerMinute: 1_000_000 });

/** Scripts that Redis has run: look-ups, failures counted, limits. */
async function scriptsRun(admin: RedisClient): Promise<number> {
  const stats = await Promise.all(mastersOf(admin).map((node) => node.info("commandstats")));
  return [...stats.join("\n").matchAll(/^cmdstat_(?:evalsha|eval)(?:_ro)?:calls=(\d+)/gm)].reduce(
    (sum, [, calls]) => sum + Number(calls),
    0,
  );
}

async function lookUps(gateway: GatewayUnderTest): Promise<Record<string, number>> {
  const text = await (await fetch(`${gateway.opsUrl}/metrics`)).text();
  const found = text.matchAll(/^tollgate_gateway_key_look_ups_total\{outcome="(\w+)"\} (\d+)/gm);
  return Object.fromEntries([...found].map(([, outcome, count]) => [outcome, Number(count)]));
}

/** Strange keys with a right checksum, some at once, by their status. */
async function flood(
  gateway: GatewayUnderTest,
  count: number,
  addressOf: (index: number) => string = () => "192.0.2.7",
): Promise<Map<number, number>> {
  const statuses = new Map<number, number>();
  let next = 0;
  const ask = async () => {
    while (next < count) {
      const address = addressOf(next++);
      const key = createApiKey({ profile: "development" });
      const { status } = await gateway.post(chainId, { key, headers: { "X-Forwarded-For": address } });
      statuses.set(status, (statuses.get(status) ?? 0) + 1);
    }
  };
  await Promise.all(Array.from({ length: 20 }, ask));
  return statuses;
}

t.test("strange keys from one address", async (t) => {
  const { admin, store, start } = await startRig(t);
  const { secret: unused } = await create(store);
  const { secret: busy } = await create(store);
  const gateway = await start();
  const from = { "X-Forwarded-For": "192.0.2.7" };
  t.equal((await gateway.post(chainId, { key: busy, headers: from })).status, 200);

  t.test("are looked up until the address is refused, and hardly ever then", async (t) => {
    const before = await scriptsRun(admin);
    const startedMs = performance.now();
    const statuses = await flood(gateway, 2000);
    const seconds = (performance.now() - startedMs) / 1000;
    const run = (await scriptsRun(admin)) - before;
    // A look-up and a count for each of 100 failures and of those on their way; then ten look-ups a second.
    t.ok(run <= 2 * 125 + 10 * (seconds + 1) + 10, `${run} scripts in ${seconds} s`);
    t.ok((statuses.get(401) ?? 0) >= 99);
    t.ok((statuses.get(429) ?? 0) >= 1800);
    t.equal(statuses.size, 2);
    t.ok(((await lookUps(gateway))["refused"] ?? 0) > 1000);
  });

  t.test("push no good key out of memory", async (t) => {
    const { found } = await lookUps(gateway);
    t.equal((await gateway.post(chainId, { key: busy, headers: from })).status, 200);
    t.equal((await lookUps(gateway))["found"], found, "Redis was not asked");
  });

  t.test("do not keep a key out that was made before and is used for the first time", async (t) => {
    t.equal((await gateway.post(chainId, { key: unused, headers: from })).status, 200);
  });

  t.test("nor one that is made now, at once", async (t) => {
    const { secret } = await create(store);
    const startedMs = performance.now();
    let status = 0;
    while (status !== 200 && performance.now() - startedMs < 1000) {
      status = (await gateway.post(chainId, { key: secret, headers: from })).status;
    }
    t.equal(status, 200, `after ${performance.now() - startedMs} ms`);
  });
});

t.test(
  "strange keys from many addresses are looked up at a bounded rate, and good keys as ever",
  async (t) => {
    const { admin, store, start } = await startRig(t, lookUpsMax);
    const made = [];
    for (let count = 0; count < 5; count += 1) made.push(await create(store));
    const gateway = await start();
    const before = await scriptsRun(admin);
    const startedMs = performance.now();
    const flooding = flood(gateway, 600, (index) => `2001:db8:${index.toString(16)}::1`);
    for (const { secret } of made) {
      const headers = { "X-Forwarded-For": "2001:db8:ffff::1" };
      t.equal((await gateway.post(chainId, { key: secret, headers })).status, 200);
    }
    const statuses = await flooding;
    const seconds = (performance.now() - startedMs) / 1000;
    const run = (await scriptsRun(admin)) - before;
    // A look-up and a count for each of them; the good ones are looked up and charged; scripts are sent once more at first.
    t.ok(run <= 2 * 20 * (seconds + 1) + 60, `${run} scripts in ${seconds} s`);
    t.ok((statuses.get(401) ?? 0) >= 20);
    t.ok((statuses.get(503) ?? 0) > 0, "the others are told to come back, and are not counted as bad");
    t.equal(statuses.size, 2);
  },
);

t.test("questions for one strange key at the same time are one, and the answer is remembered", async (t) => {
  const { start } = await startRig(t, lookUpsMax);
  const gateway = await start();
  const key = createApiKey({ profile: "development" });
  const ask = () => gateway.post(chainId, { key });
  await Promise.all(Array.from({ length: 50 }, ask));
  t.match(await lookUps(gateway), { unknown: 1, bounded: 0 });
  await ask();
  t.match(await lookUps(gateway), { unknown: 1, bounded: 0 });
});

t.test("a key that was tried before it was made is good the moment it is made", async (t) => {
  const { admin, start } = await startRig(t);
  const gateway = await start();
  const randomBytes = (size: number) => new Uint8Array(size).fill(7);
  const key = createApiKey({ profile: "development", randomBytes });
  t.equal((await gateway.post(chainId, { key })).status, 401);
  const { secret } = await create(createKeyStore({ redis: admin, randomBytes }));
  t.equal(secret, key);
  const stopwatch = startStopwatch();
  while ((await gateway.post(chainId, { key })).status !== 200 && stopwatch.elapsedMs() < 5000);
  t.ok(stopwatch.elapsedMs() < 1000);
});

t.test("more strange keys than are remembered take no more memory, and are looked up again", async (t) => {
  const { start } = await startRig(t, { unknownKeysMax: 3 });
  const gateway = await start();
  const keys = Array.from({ length: 5 }, () => createApiKey({ profile: "development" }));
  for (const key of [...keys, ...keys]) await gateway.post(chainId, { key });
  t.match(await lookUps(gateway), { unknown: 10, remembered: 0 });
  for (const key of keys.slice(2)) await gateway.post(chainId, { key });
  t.match(await lookUps(gateway), { unknown: 10, remembered: 3 });
});
