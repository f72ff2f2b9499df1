import { mkdir, rm } from "node:fs/promises";
import t, { type Test } from "tap";
import type { GatewayConfig } from "../../gateway/config.ts";
import { createApiKey, type Profile } from "../../lib/keys/api-key.ts";
import type { RedisClient } from "../../lib/redis/redis-client.ts";
import { startStubValidator } from "../fakes/stub-validator.ts";
import { openKeyStore } from "../helpers/api-keys.ts";
import { coreKey, type GatewayUnderTest, startGateway } from "../helpers/gateway.ts";
import { findKeys, flushAll, onlySingle, startRedis } from "../helpers/redis.ts";
import { waitFor } from "../helpers/wait-for.ts";

const chainId = { jsonrpc: "2.0", id: 1, method: "eth_chainId" };

/** A Redis with keys of the profile, and gateways before it that all know of them. */
async function startRig(
  t: Test,
  { profile = "production", gateways: count = 1 }: { profile?: Profile; gateways?: number } = {},
) {
  const redis = await startRedis(t);
  const validator = await startStubValidator(t);
  const { admin, store, ...keys } = await openKeyStore(t, redis.url);
  const create = () => keys.create({ profile, limitPerMinute: 100 });
  const start = (change: (config: GatewayConfig) => GatewayConfig = (config) => config) =>
    startGateway(t, {
      redisUrl: redis.url,
      upstreams: [validator.url],
      change: (config) => change({ ...config, profile, keys: profile === "production" ? [] : config.keys }),
    });
  const used = await create();
  const unused = await create();
  const gateways: GatewayUnderTest[] = [];
  for (let index = 0; index < count; index += 1) gateways.push(await start());
  const [gateway] = gateways;
  if (gateway === undefined) throw new Error("there is no gateway");
  return { redis, admin, store, create, start, used, unused, gateways, gateway };
}

async function readyz(gateway: GatewayUnderTest) {
  const response = await fetch(`${gateway.opsUrl}/readyz`);
  return { status: response.status, text: await response.text() };
}

const saysLost = async (gateway: GatewayUnderTest) => /lost|earlier state/.test((await readyz(gateway)).text);
/** Not whether nothing is degraded: the stub's one block is a stalled chain, once a busy machine has taken long enough. */
const isWhole = async (gateway: GatewayUnderTest) => {
  const { status, text } = await readyz(gateway);
  return status === 200 && !text.includes("Redis");
};

async function statusOf(gateway: GatewayUnderTest, { secret }: { secret: string }): Promise<number> {
  return (await gateway.post(chainId, { key: secret })).status;
}

/** All that the keys are in Redis, to be put back as a restored backup would. */
async function snapshot(admin: RedisClient): Promise<() => Promise<void>> {
  const names = (await findKeys(admin, "{keys}:*")).sort();
  const values = await Promise.all(names.map((name) => admin.dumpBuffer(name)));
  return async () => {
    // In one step, in a cluster too: all of them are on one node.
    const restore = admin.multi().del(...(await findKeys(admin, "{keys}:*")), ...names);
    for (const [index, name] of names.entries()) restore.restore(name, 0, values[index] ?? "", "REPLACE");
    await restore.exec();
  };
}

t.test("Redis is emptied before two gateways", async (t) => {
  const rig = await startRig(t, { gateways: 2 });
  const { admin, store, used, unused, gateways, gateway } = rig;
  for (const one of gateways) t.equal(await statusOf(one, used), 200);
  await store.revoke((await rig.create()).key.id);
  const restore = await snapshot(admin);
  await flushAll(admin);

  t.test("no key is called unknown, from the first moment on", async (t) => {
    const stranger = { secret: createApiKey({ profile: "production" }) };
    for (const one of gateways) {
      t.equal(await statusOf(one, unused), 503);
      t.equal(await statusOf(one, stranger), 503);
      t.match((await one.post(chainId, { key: unused.secret })).json, {
        error: { data: { code: "upstream_unavailable" } },
      });
    }
  });

  t.test("/readyz, a metric and the log say so", async (t) => {
    for (const one of gateways) {
      await waitFor("said", () => saysLost(one));
      const { status, text } = await readyz(one);
      t.equal(status, 200, "what is in memory is served");
      t.match(text, /"degraded": true/);
      t.match(text, /keys -- import/);
      const metrics = await (await fetch(`${one.opsUrl}/metrics`)).text();
      t.match(metrics, /^tollgate_gateway_keys_lost\{loss="emptied"\} 1$/m);
      t.match(metrics, /^tollgate_limits_degraded 1$/m);
      t.equal(one.logLines.filter((line) => /"level":50.*Redis has lost all API keys/.test(line)).length, 1);
    }
  });

  t.test("a key in memory goes on, with a tenth of its limit and not a point of a lease more", async (t) => {
    const statuses = [];
    for (let call = 0; call < 14; call += 1) statuses.push(await statusOf(gateway, used));
    t.equal(statuses.filter((status) => status === 200).length, 10);
    t.equal(statuses.filter((status) => status === 429).length, 4);
  });

  t.test("nobody is counted as sending bad keys", async (t) => {
    for (let call = 0; call < 250; call += 1) await statusOf(gateway, unused);
    t.equal(await statusOf(gateway, unused), 503);
    t.equal((await gateway.post(chainId, { key: null })).status, 401);
    t.same(await findKeys(admin, "failures:*"), []);
  });

  t.test("a gateway that starts now knows of it too", async (t) => {
    const late = await rig.start();
    await waitFor("said", () => saysLost(late));
    t.equal(await statusOf(late, unused), 503);
    await late.stop();
  });

  t.test("a key that is made now is good at once, and the others are still not called unknown", async (t) => {
    await store.setTeam({ name: "partners" });
    const fresh = await rig.create();
    for (const one of gateways) {
      await waitFor("the new key", async () => (await statusOf(one, fresh)) === 200);
      t.equal(await statusOf(one, unused), 503);
      t.match((await readyz(one)).text, /lost the API keys of before/);
    }
  });

  t.test("when the keys are put back it is over by itself", async (t) => {
    await restore();
    for (const one of gateways) {
      await waitFor("whole", () => isWhole(one));
      t.equal(await statusOf(one, unused), 200);
      t.equal(await statusOf(one, { secret: createApiKey({ profile: "production" }) }), 401);
      t.match(one.logLines.join(""), /whole again/);
    }
  });
});

t.test("an older state of the keys is restored", async (t) => {
  const { admin, store, used, unused, gateways, create } = await startRig(t, { gateways: 2 });
  const restore = await snapshot(admin);
  const newer = await create();
  for (const one of gateways) for (const key of [used, newer]) t.equal(await statusOf(one, key), 200);
  t.equal(await store.revoke(unused.key.id), "revoked");
  await restore();
  for (const one of gateways) {
    t.equal(await statusOf(one, unused), 503, "who knows that it was revoked since?");
    await waitFor("said", () => saysLost(one));
    t.equal(await statusOf(one, newer), 200, "from memory");
    const metrics = await (await fetch(`${one.opsUrl}/metrics`)).text();
    t.match(metrics, /^tollgate_gateway_keys_lost\{loss="older"\} 1$/m);
  }
  // A change does not make the older state the one that is meant.
  await create();
  for (const one of gateways) t.equal(await statusOf(one, unused), 503);

  await store.confirm();
  for (const one of gateways) {
    await waitFor("whole", () => isWhole(one));
    t.equal(await statusOf(one, newer), 401, "an operator said that this state is meant");
    t.equal(await statusOf(one, used), 200);
  }
});

t.test("Redis is started again without its files", { skip: onlySingle }, async (t) => {
  const { redis, admin, store, used, unused, gateway } = await startRig(t);
  t.equal(await statusOf(gateway, used), 200);
  const answer: unknown = await admin.config("GET", "dir");
  const folder = Array.isArray(answer) ? String(answer[1]) : t.fail("a folder");
  await redis.kill();
  await rm(String(folder), { recursive: true });
  await mkdir(String(folder));
  await redis.restart();
  await waitFor("said", () => saysLost(gateway));
  t.equal(await statusOf(gateway, used), 200);
  t.equal(await statusOf(gateway, unused), 503);
  await waitFor("confirmed", () => store.confirm().then(() => true));
  await waitFor("whole", () => isWhole(gateway));
  t.equal(await statusOf(gateway, used), 401, "an operator said that there is none");
});

t.test("a gateway of the development profile puts its keys back by itself", async (t) => {
  const { admin, store, used, gateway } = await startRig(t, { profile: "development" });
  const core = { secret: coreKey };
  t.equal(await statusOf(gateway, core), 200);
  t.equal(await statusOf(gateway, used), 200);

  await t.test("and still misses those that operators made", async (t) => {
    await flushAll(admin);
    await waitFor("seeded", async () => (await store.list()).keys.length > 0);
    await waitFor("said", () => saysLost(gateway));
    t.equal(await statusOf(gateway, core), 200);
    t.equal(await statusOf(gateway, used), 200, "from memory");
    t.equal(await statusOf(gateway, { secret: createApiKey({ profile: "development" }) }), 503);
    await store.confirm();
    await waitFor("whole", () => isWhole(gateway));
    t.equal(await statusOf(gateway, core), 200);
    t.equal(await statusOf(gateway, used), 401);
  });

  await t.test("where there were no others it is over then", async (t) => {
    const seeded = (await store.list()).keys.length;
    await flushAll(admin);
    await waitFor("seeded", async () => (await store.list()).keys.length === seeded);
    await waitFor("whole", () => isWhole(gateway));
    t.equal(await statusOf(gateway, core), 200);
    t.equal(await statusOf(gateway, { secret: createApiKey({ profile: "development" }) }), 401);
  });
});

t.test("production that never had a key says so, and takes the first one at once", async (t) => {
  const redis = await startRedis(t);
  const validator = await startStubValidator(t);
  const gateway = await startGateway(t, {
    redisUrl: redis.url,
    upstreams: [validator.url],
    change: (config) => ({ ...config, profile: "production", keys: [] }),
  });
  t.equal(await statusOf(gateway, { secret: createApiKey({ profile: "production" }) }), 503);
  await waitFor("said", async () => /Redis holds no API keys/.test((await readyz(gateway)).text));
  t.match(gateway.logLines.join(""), /"level":40.*Redis holds no API keys/);
  const { create } = await openKeyStore(t, redis.url);
  const made = await create({ label: "first", profile: "production" });
  await waitFor("the first key", async () => (await statusOf(gateway, made)) === 200);
  t.ok(await isWhole(gateway));
  t.equal(await statusOf(gateway, { secret: createApiKey({ profile: "production" }) }), 401);
});
