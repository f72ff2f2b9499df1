import t from "tap";
import { readGatewayConfig } from "../../gateway/config.ts";
import { keyVersionKey } from "../../lib/redis/keys/api-keys.ts";
import { startStubValidator } from "../fakes/stub-validator.ts";
import { openKeyStore } from "../helpers/api-keys.ts";
import { coreKey, type GatewayUnderTest, startGateway } from "../helpers/gateway.ts";
import { startRedis } from "../helpers/redis.ts";
import { startStopwatch } from "../helpers/stopwatch.ts";

const chainId = { jsonrpc: "2.0", id: 1, method: "eth_chainId" };

t.test("changes to keys reach every gateway", async (t) => {
  const redis = await startRedis(t);
  const validator = await startStubValidator(t);
  const options = { redisUrl: redis.url, upstreams: [validator.url] };
  const gateways = await Promise.all([startGateway(t, options), startGateway(t, options)]);
  // Another process would have another connection, as this one is.
  const { admin, store, create } = await openKeyStore(t, redis.url);
  const statuses = (key: string) =>
    Promise.all(gateways.map(async (gateway) => (await gateway.post(chainId, { key })).status));
  const within = async (timeoutMs: number, key: string, expected: number) => {
    const stopwatch = startStopwatch();
    for (;;) {
      const seen = await statuses(key);
      if (seen.every((status) => status === expected)) return true;
      if (stopwatch.elapsedMs() > timeoutMs) return seen;
    }
  };

  t.test("a revoked key is refused everywhere within a second", async (t) => {
    const { secret, key } = await create();
    t.same(await statuses(secret), [200, 200]);
    t.equal(await store.revoke(key.id), "revoked");
    t.equal(await within(1000, secret, 401), true);
    const [gateway] = gateways;
    t.match((await gateway?.post(chainId, { key: secret }))?.json, {
      error: { data: { code: "api_key_revoked" }, message: /revoked/ },
    });
  });

  t.test("a key that is made after somebody tried it works within a second or so", async (t) => {
    const made = await create();
    await store.revoke(made.key.id);
    const fresh = await create();
    t.equal(await within(2000, fresh.secret, 200), true);
  });

  t.test("a rotated key works beside the new one until the overlap ends", async (t) => {
    const { secret, key } = await create();
    t.same(await statuses(secret), [200, 200]);
    const rotated = await store.rotate({ id: key.id, overlapMs: 700 });
    if (rotated.outcome !== "rotated") throw new Error(rotated.outcome);
    t.same(await statuses(rotated.secret), [200, 200]);
    t.same(await statuses(secret), [200, 200], "within the overlap");
    t.equal(await within(2000, secret, 401), true, "after it");
    t.same(await statuses(rotated.secret), [200, 200]);
  });

  t.test("a lost message is noticed by the version", async (t) => {
    const { secret, key } = await create();
    t.same(await statuses(secret), [200, 200]);
    // What a revocation does, but for the message.
    await admin.hset(`{keys}:record:${key.hash}`, "revokedAtMs", Date.now());
    await admin.incr(keyVersionKey);
    t.equal(await within(4000, secret, 401), true);
  });

  t.test("a team's new limit holds within a second", async (t) => {
    const { secret } = await create();
    t.same(await statuses(secret), [200, 200]);
    await store.setTeam({ name: "partners", limitPerMinute: 33 });
    const [gateway] = gateways;
    const policy = async () =>
      (await gateway?.post(chainId, { key: secret }))?.headers.get("RateLimit-Policy");
    const started = performance.now();
    while ((await policy()) !== '"default";q=33;w=60' && performance.now() - started < 1000);
    t.equal(await policy(), '"default";q=33;w=60');
  });
});

t.test("a gateway of the production profile refuses development keys that are still in Redis", async (t) => {
  const redis = await startRedis(t);
  const validator = await startStubValidator(t);
  const options = { redisUrl: redis.url, upstreams: [validator.url] };
  const development = await startGateway(t, options);
  const production: GatewayUnderTest = await startGateway(t, {
    ...options,
    change: (config) => ({ ...config, profile: "production", keys: [] }),
  });
  t.equal((await development.post(chainId)).status, 200);
  t.equal((await production.post(chainId, { key: coreKey })).status, 401);

  const { create } = await openKeyStore(t, redis.url);
  const made = await create({ profile: "production" });
  t.equal((await production.post(chainId, { key: made.secret })).status, 200);
});

t.test("a configured key that is taken out of the file is gone at the next start", async (t) => {
  const redis = await startRedis(t);
  const validator = await startStubValidator(t);
  const options = { redisUrl: redis.url, upstreams: [validator.url] };
  const first = await startGateway(t, options);
  t.equal((await first.post(chainId)).status, 200);
  await first.stop();
  const second = await startGateway(t, {
    ...options,
    change: (config) => ({ ...config, keys: config.keys.filter(({ value }) => value !== coreKey) }),
  });
  t.equal((await second.post(chainId)).status, 401);
});

t.test("the production profile refuses a file with keys in it", async (t) => {
  const file = new URL("../../config/gateway.yaml", import.meta.url).pathname;
  t.throws(() => readGatewayConfig({ file, env: {}, profile: "production" }), {
    message: /gateway\.yaml:\d+: keys\[0\]: "core development" is a development key/,
  });
});
