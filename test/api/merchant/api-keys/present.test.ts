import { request } from "node:http";
import t from "tap";
import { z } from "zod";
import { createKeyLookUp } from "../../../../api/merchant/api-keys/key-look-up.ts";
import { createApiKey, hashApiKey } from "../../../../lib/keys/api-key.ts";
import { createRedisClient } from "../../../../lib/redis/redis-client.ts";
import { waitFor } from "../../../helpers/wait-for.ts";
import { problem } from "../../support/problem.ts";
import { startApi } from "../../support/start-api.ts";
import { send } from "../support/sign-in.ts";
import { buyKey, dashboardPath, keysPath, newcomer, startShop } from "../support/start-shop.ts";

const clock = { ms: Date.now() };
const shop = await startShop(t, { replicas: 2, now: () => clock.ms });
const { api, apis, db, services } = shop;
const [one = api, other = api] = apis;
const { headers } = await newcomer(api);
const key = await buyKey(shop, headers);
const unknown = createApiKey({ profile: "development", prefix: "svc" });
const bearer = (secret: string) => ({ Authorization: `Bearer ${secret}` });
const codeOf = (json: unknown) => problem.parse(json).code;
const revoke = (keyId: string) => send(api, `${keysPath}/revoke`, { headers, body: { keyId } });

t.test("a key is taken from each of the three headers, and two different ones are refused", async (t) => {
  const { secret } = key;
  const cases: [string, Record<string, string>, number, string?][] = [
    ["its own header", { "X-Svc-Dev-Key": secret }, 200],
    ["bearer", bearer(secret), 200],
    ["the scheme's case does not count", { Authorization: `bearer ${secret}` }, 200],
    ["X-Api-Key", { "X-Api-Key": secret }, 200],
    ["the same in all three", { "X-Svc-Dev-Key": secret, "X-Api-Key": secret, ...bearer(secret) }, 200],
    ["two different ones", { "X-Svc-Dev-Key": secret, "X-Api-Key": unknown }, 400, "invalid_request"],
    ["another bearer", { "X-Svc-Dev-Key": secret, ...bearer(unknown) }, 400, "invalid_request"],
    ["two in one field", { "X-Svc-Dev-Key": `${secret}, ${unknown}` }, 401, "api_key_invalid"],
    ["none", {}, 401, "api_key_missing"],
    ["an empty one", { "X-Svc-Dev-Key": "" }, 401, "api_key_missing"],
    ["another scheme", { Authorization: `Basic ${secret}` }, 401, "api_key_missing"],
    ["one that nobody bought", { "X-Svc-Dev-Key": unknown }, 401, "api_key_invalid"],
    [
      "a mistyped one",
      { "X-Svc-Dev-Key": `${secret.slice(0, -1)}${secret.endsWith("0") ? 1 : 0}` },
      401,
      "api_key_invalid",
    ],
    [
      "a key of the gateway",
      { "X-Svc-Dev-Key": createApiKey({ profile: "development" }) },
      401,
      "api_key_invalid",
    ],
    ["a wallet's session", headers, 401, "api_key_invalid"],
    ["the SHA-256 of a key", { "X-Svc-Dev-Key": hashApiKey(secret) }, 401, "api_key_invalid"],
    ["something long", { "X-Svc-Dev-Key": "x".repeat(5000) }, 401, "api_key_invalid"],
  ];
  for (const [name, sent, status, code] of cases) {
    const answer = await api.get(dashboardPath, sent);
    t.equal(answer.status, status, `${name}: ${answer.text}`);
    if (code !== undefined) t.equal(codeOf(answer.json), code, name);
    if (status === 401) t.match(answer.headers.get("www-authenticate"), /^Bearer /, name);
  }
  t.equal((await api.get(`${dashboardPath}?key=${secret}`)).status, 401, "never from the URL");
});

t.test("the same header twice is read whole", async (t) => {
  const ask = async (...values: string[]) => {
    const { hostname, port } = new URL(api.url);
    const fields = values.flatMap((value) => ["X-Svc-Dev-Key", value]);
    return new Promise<number | undefined>((resolve, reject) => {
      request({ hostname, port, path: dashboardPath, headers: ["Host", hostname, ...fields] }, (answer) => {
        answer.resume().on("end", () => resolve(answer.statusCode));
      })
        .on("error", reject)
        .end();
    });
  };
  t.equal(await ask(key.secret, key.secret), 200);
  t.equal(await ask(key.secret, unknown), 400);
});

t.test("a key opens what its scopes name, and is told which one it lacks", async (t) => {
  const { headers: mine } = await newcomer(api);
  const bought = await buyKey(shop, mine, {
    package: "monthly",
    scopes: ["invoices:read", "invoices:write"],
  });
  const refused = await api.get(dashboardPath, bearer(bought.secret));
  t.equal(refused.status, 403);
  t.match(problem.parse(refused.json), { code: "insufficient_scope", detail: /dashboard:read/ });
  const only = await buyKey(shop, mine, { package: "monthly", scopes: ["dashboard:read"] });
  t.equal((await api.get(dashboardPath, bearer(only.secret))).status, 200);
});

t.test("a key that is revoked is refused by every replica at once, and stays revoked", async (t) => {
  const { headers: mine } = await newcomer(api);
  const bought = await buyKey(shop, mine);
  for (const each of apis) t.equal((await each.get(dashboardPath, bearer(bought.secret))).status, 200);
  const revokedOne = await send(one, `${keysPath}/revoke`, { headers: mine, body: { keyId: bought.id } });
  t.match(revokedOne.json, { key: { id: bought.id, state: "revoked" } });
  for (const each of apis) {
    const refused = await each.get(dashboardPath, bearer(bought.secret));
    t.match([refused.status, codeOf(refused.json)], [401, "api_key_revoked"]);
  }
  const again = await send(other, `${keysPath}/revoke`, { headers: mine, body: { keyId: bought.id } });
  t.same(again.json, revokedOne.json, "the same again changes nothing");
  t.equal((await revoke(`key_${"0".repeat(22)}`)).status, 404);
});

t.test("a look-up that read a key just before it was revoked cannot bring it back", async (t) => {
  const { headers: mine } = await newcomer(api);
  const bought = await buyKey(shop, mine);
  const redis = createRedisClient({
    name: "test",
    url: services.redisUrl,
    logger: { info() {}, warn() {} },
    commandTimeoutMs: 5000,
  });
  t.teardown(() => redis.disconnect());
  await waitFor("Redis answers", () => redis.status === "ready");
  const [read, revoked] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const slow = createKeyLookUp({
    redis,
    db: {
      async query(...asked) {
        const answer = await db.query(...asked);
        read.resolve();
        await revoked.promise;
        return answer;
      },
    },
  });
  const reading = slow.truth(hashApiKey(bought.secret));
  await read.promise;
  await send(one, `${keysPath}/revoke`, { headers: mine, body: { keyId: bought.id } });
  revoked.resolve();
  t.match(await reading, { isRevoked: false }, "it read what was true then");
  t.equal((await other.get(dashboardPath, bearer(bought.secret))).status, 401);
});

t.test("a key ends at its time, also where it is known already", async (t) => {
  const { headers: mine } = await newcomer(api);
  const bought = await buyKey(shop, mine);
  t.equal((await api.get(dashboardPath, bearer(bought.secret))).status, 200);
  const before = clock.ms;
  clock.ms = bought.expiresAtUnix * 1000 - 1;
  t.equal((await api.get(dashboardPath, bearer(bought.secret))).status, 200);
  clock.ms = bought.expiresAtUnix * 1000 + 1000;
  const refused = await api.get(dashboardPath, bearer(bought.secret));
  clock.ms = before;
  t.match([refused.status, codeOf(refused.json)], [401, "api_key_expired"]);
});

t.test("production takes no key of the development profile, though one database served both", async (t) => {
  const production = await startApi(t, {
    ...services,
    change: (config) => ({
      ...config,
      ...{ profile: "production", origins: ["https://explorer.example", "https://www.example"] },
      svcDev: { ...config.svcDev, orderSigner: { kind: "none" } },
    }),
  });
  const refused = await production.get(dashboardPath, bearer(key.secret));
  t.match([refused.status, codeOf(refused.json)], [401, "api_key_invalid"]);
  const live = createApiKey({ profile: "production", prefix: "svc" });
  await db.query(
    `update svc.api_keys set hash = decode($1, 'hex') where id = (select id from svc.api_keys where hash = decode($2, 'hex'))`,
    [hashApiKey(live), hashApiKey(key.secret)],
  );
  t.equal((await production.get(dashboardPath, bearer(live))).status, 200);
  await db.query("update svc.api_keys set hash = decode($1, 'hex') where hash = decode($2, 'hex')", [
    ...[hashApiKey(key.secret), hashApiKey(live)],
  ]);
  const order = await send(production, keysPath, { headers, body: { package: "monthly" } });
  t.match(order.json, { status: 503, detail: /No keys are sold here/ });
});

t.test("when a key was used last is told to the minute", async (t) => {
  const { wallet, headers: mine } = await newcomer(api);
  const bought = await buyKey(shop, mine);
  const lastUse = async () => {
    const { json } = await api.get(`/api/v1/svc-dev/summary/${wallet}`, mine);
    return z.object({ keys: z.array(z.object({ lastUsedAtUnix: z.number().nullable() })) }).parse(json)
      .keys[0]?.lastUsedAtUnix;
  };
  t.equal(await lastUse(), null);
  await api.get(dashboardPath, bearer(bought.secret));
  const minute = Math.floor(clock.ms / 60_000) * 60;
  await waitFor("it is noted", async () => (await lastUse()) === minute);
  clock.ms += 120_000;
  await api.get(dashboardPath, bearer(bought.secret));
  await waitFor("the later one too", async () => (await lastUse()) === minute + 120);
});

t.test("requests a minute are counted by key, exactly, over all replicas", async (t) => {
  const points = 30;
  const limited = await Promise.all(
    [0, 1].map(() =>
      startApi(t, {
        ...services,
        change: (config) => ({
          ...config,
          trustedProxies: ["127.0.0.1"],
          stalledAfterMs: 86_400_000,
          limits: { ...config.limits, points },
        }),
      }),
    ),
  );
  const [left = api, right = api] = limited;
  const { headers: mine } = await newcomer(api);
  const [busy, quiet] = [await buyKey(shop, mine), await buyKey(shop, mine)];
  const answers = await Promise.all(
    Array.from({ length: 100 }, (_, index) =>
      (index % 2 === 0 ? left : right).get(dashboardPath, bearer(busy.secret)),
    ),
  );
  t.equal(answers.filter(({ status }) => status === 200).length, points);
  const refused = answers.find(({ status }) => status !== 200);
  t.match([refused?.status, codeOf(refused?.json)], [429, "rate_limited"]);
  t.ok(Number(refused?.headers.get("retry-after")) > 0);
  const free = await left.get(dashboardPath, bearer(quiet.secret));
  t.equal(free.status, 200, "another key of the same wallet and address has its own count");
  t.match(free.headers.get("ratelimit"), `r=${points - 1}`);

  // Guessing is counted by address, and hurts neither good keys nor who only reads.
  const from = { "X-Forwarded-For": "203.0.113.7" };
  const ask = (sent: Record<string, string>) => left.get(dashboardPath, { ...from, ...sent });
  const guess = () => ask(bearer(createApiKey({ profile: "development", prefix: "svc" })));
  const guesses = await Promise.all(Array.from({ length: 3 * points }, guess));
  t.equal(guesses.filter(({ status }) => status === 401).length, points);
  t.equal(guesses.filter(({ status }) => status === 429).length, 2 * points);
  t.equal((await ask({})).status, 429, "who sends none is counted too");
  t.equal((await ask(bearer(quiet.secret))).status, 200);
  t.equal((await left.get("/api/v1/svc-dev/packages", from)).status, 200);
});
