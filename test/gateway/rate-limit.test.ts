import t from "tap";
import { createKeyStore } from "../../lib/keys/key-store.ts";
import { startStubValidator } from "../fakes/stub-validator.ts";
import { coreKey, startGateway } from "../helpers/gateway.ts";
import { connectAdmin, startRedis } from "../helpers/redis.ts";

const chainId = { jsonrpc: "2.0", id: 1, method: "eth_chainId" };

t.test("limits over HTTP", async (t) => {
  const redis = await startRedis(t);
  const validator = await startStubValidator(t);
  const gateway = await startGateway(t, {
    redisUrl: redis.url,
    upstreams: [validator.url],
    change: (config) => ({ ...config, trustedProxies: ["127.0.0.1"] }),
  });
  const client = await connectAdmin(t, redis.url);
  const keyStore = createKeyStore({ redis: client });
  const keyWith = async (settings: { limitPerMinute?: number; team?: string }) => {
    const team = settings.team ?? `team-${Math.random().toString(36).slice(2, 10)}`;
    if (settings.team === undefined) await keyStore.setTeam({ name: team });
    const made = await keyStore.create({
      label: "a test",
      qa: false,
      permissions: ["rpc"],
      profile: "development",
      ...settings,
      team,
    });
    if (made.outcome !== "created") throw new Error(made.outcome);
    return made.secret;
  };

  t.test(
    "an answer to a valid key tells policy and rest; a call past the limit is 429 and tells when",
    async (t) => {
      const key = await keyWith({ limitPerMinute: 3 });
      for (const rest of [2, 1, 0]) {
        const { status, headers } = await gateway.post(chainId, { key });
        t.equal(status, 200);
        t.equal(headers.get("RateLimit-Policy"), '"default";q=3;w=60');
        t.match(headers.get("RateLimit"), new RegExp(`^"default";r=${rest};t=(60|5\\d)$`));
        t.equal(headers.get("Retry-After"), null);
      }
      const seen = validator.bodies.length;
      const { status, headers, json } = await gateway.post({ ...chainId, id: "x" }, { key });
      t.equal(status, 429);
      t.match(headers.get("Retry-After"), /^(60|5\d)$/);
      t.match(headers.get("RateLimit"), /^"default";r=0;t=/);
      t.match(json, {
        id: "x",
        error: { code: -32005, data: { code: "rate_limited", retryAfterMs: Number } },
      });
      t.equal(validator.bodies.length, seen, "nothing was forwarded");
    },
  );

  t.test("a batch is charged item by item: what fits is answered, the rest has its own -32005", async (t) => {
    const key = await keyWith({ limitPerMinute: 3 });
    const seen = validator.bodies.length;
    const batch = [1, 2, 3, 4, 5].map((id) => ({ ...chainId, id }));
    const { status, headers, json } = await gateway.post(batch, { key });
    t.equal(status, 200);
    t.ok(headers.get("Retry-After"));
    t.match(json, [
      { id: 1, result: "eth_chainId" },
      { id: 2, result: "eth_chainId" },
      { id: 3, result: "eth_chainId" },
      { id: 4, error: { code: -32005, data: { code: "rate_limited", retryAfterMs: Number } } },
      { id: 5, error: { code: -32005 } },
    ]);
    t.equal(validator.bodies.length, seen + 3);
  });

  t.test("notifications, refused methods and refused bodies cost as calls do", async (t) => {
    const key = await keyWith({ limitPerMinute: 4 });
    t.equal((await gateway.post({ jsonrpc: "2.0", method: "eth_chainId" }, { key })).status, 204);
    t.equal((await gateway.post({ ...chainId, method: "eth_nonsense" }, { key })).status, 200);
    const broken = await gateway.post("{", { key });
    t.equal(broken.status, 400);
    t.match(broken.headers.get("RateLimit"), /r=1;/);
    const wrongType = await gateway.post(chainId, { key, headers: { "Content-Type": "text/plain" } });
    t.equal(wrongType.status, 415);
    t.match(wrongType.headers.get("RateLimit"), /r=0;/);
    t.equal((await gateway.post("{", { key })).status, 429);
    t.equal((await gateway.post({ jsonrpc: "2.0", method: "eth_chainId" }, { key })).status, 429);
  });

  t.test("keys without a limit of their own have their team's, or the profile's", async (t) => {
    await keyStore.setTeam({ name: "limited", limitPerMinute: 7 });
    const teams = await gateway.post(chainId, { key: await keyWith({ team: "limited" }) });
    t.match(teams.headers.get("RateLimit-Policy"), /q=7;/);
    const profiles = await gateway.post(chainId, { key: await keyWith({}) });
    t.match(profiles.headers.get("RateLimit-Policy"), /q=100;/);
  });

  t.test("a team's cap holds over all its keys", async (t) => {
    await keyStore.setTeam({ name: "capped", capPerMinute: 5 });
    const keys = [await keyWith({ team: "capped" }), await keyWith({ team: "capped" })];
    const statuses = [];
    for (let call = 0; call < 8; call += 1)
      statuses.push((await gateway.post(chainId, { key: keys[call % 2] ?? "" })).status);
    t.same(statuses, [200, 200, 200, 200, 200, 429, 429, 429]);
  });

  t.test("500 calls at once on a limit of 100: exactly 100", async (t) => {
    const key = await keyWith({ limitPerMinute: 100 });
    const answers = await Promise.all(Array.from({ length: 500 }, () => gateway.post(chainId, { key })));
    t.equal(answers.filter(({ status }) => status === 200).length, 100);
    t.equal(answers.filter(({ status }) => status === 429).length, 400);
  });

  t.test("an address that fails too often is told so; a known key behind it is not refused", async (t) => {
    const from = (address: string) => ({ "X-Forwarded-For": address });
    const unknown = "an-unknown-key-of-somebody";
    const statuses = [];
    for (let call = 0; call < 103; call += 1) {
      statuses.push(
        (await gateway.post(chainId, { key: unknown, headers: from("2001:db8:1:2::77") })).status,
      );
    }
    t.same(new Set(statuses.slice(0, 100)), new Set([401]));
    t.same(new Set(statuses.slice(101)), new Set([429]));
    const neighbour = await gateway.post(chainId, { key: unknown, headers: from("2001:db8:1:2::1") });
    t.equal(neighbour.status, 429, "the same /64");
    t.ok(neighbour.headers.get("Retry-After"));
    t.equal((await gateway.post(chainId, { key: unknown, headers: from("2001:db8:1:3::1") })).status, 401);
    t.equal((await gateway.post(chainId, { key: coreKey, headers: from("2001:db8:1:2::1") })).status, 200);
  });
});

t.test("X-Forwarded-For counts from configured proxies only", async (t) => {
  const redis = await startRedis(t);
  const validator = await startStubValidator(t);
  const gateway = await startGateway(t, {
    redisUrl: redis.url,
    upstreams: [validator.url],
    change: (config) => ({ ...config, limits: { ...config.limits, requestsPerMinute: 5 } }),
  });
  const statuses = [];
  for (let call = 0; call < 8; call += 1) {
    const headers = { "X-Forwarded-For": `203.0.113.${call}` };
    statuses.push((await gateway.post(chainId, { key: null, headers })).status);
  }
  t.same(statuses.slice(0, 5), [401, 401, 401, 401, 401]);
  t.same(statuses.slice(6), [429, 429], "the address of the socket is the one that counts");
});
