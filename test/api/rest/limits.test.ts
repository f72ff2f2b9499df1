import t from "tap";
import type { ApiConfig } from "../../../api/config.ts";
import { startApi } from "../support/start-api.ts";
import { startServices } from "../support/start-world.ts";

const { anvil: _anvil, ...services } = await startServices(t);
const limited = (points: number, more: Partial<ApiConfig> = {}) => ({
  ...services,
  change: (config: ApiConfig) => ({ ...config, limits: { points, windowSeconds: 60 }, ...more }),
});

t.test("a client has its limit over all processes, never one request more", async (t) => {
  const trusted = { trustedProxies: ["127.0.0.1"] };
  const one = await startApi(t, limited(10, trusted));
  const other = await startApi(t, limited(10, trusted));
  const from = (address: string) => ({ "X-Forwarded-For": address });
  const answers = await Promise.all(
    Array.from({ length: 30 }, (_, index) =>
      (index % 2 === 0 ? one : other).get("/api/v1/chain", from("2001:db8::1")),
    ),
  );
  t.equal(
    answers.filter(({ status }) => status === 200).length,
    10,
    answers.map(({ status }) => status).join(),
  );
  const refused = answers.find(({ status }) => status === 429);
  t.match(refused?.json, { code: "rate_limited", status: 429 });
  t.ok(Number(refused?.headers.get("retry-after")) > 0);
  t.match(refused?.headers.get("ratelimit-policy"), '"default";q=10;w=60');
  t.equal(
    (await one.get("/api/v1/chain", from("2001:db8::ffff"))).status,
    429,
    "an IPv6 client counts by its /64",
  );
  t.equal((await one.get("/api/v1/chain", from("2001:db8:0:1::1"))).status, 200);
});

t.test("a header of nobody's proxy says nothing of who asks", async (t) => {
  const api = await startApi(t, limited(1));
  await api.get("/api/v1/chain", { "X-Forwarded-For": "192.0.2.1" });
  t.equal((await api.get("/api/v1/chain", { "X-Forwarded-For": "192.0.2.2" })).status, 429);
});

t.test("in production two origins may read it, and no other", async (t) => {
  const origins = ["https://explorer.example", "https://www.example"];
  const api = await startApi(t, limited(1000, { profile: "production", origins }));
  for (const origin of origins) {
    const answer = await api.get("/api/v1/chain", { Origin: origin });
    t.equal(answer.headers.get("access-control-allow-origin"), origin);
    t.match(answer.headers.get("vary"), /Origin/);
  }
  for (const origin of ["https://evil.example", "null", "https://www.example.evil"]) {
    const answer = await api.get("/api/v1/chain", { Origin: origin });
    t.equal(answer.headers.get("access-control-allow-origin"), null, origin);
  }
  const preflight = (origin: string) =>
    fetch(`${api.url}/graphql`, {
      method: "OPTIONS",
      headers: { Origin: origin, "Access-Control-Request-Method": "POST" },
    });
  const allowed = await preflight(origins[0] ?? "");
  t.same(
    [allowed.status, allowed.headers.get("access-control-allow-methods")],
    [204, "GET, HEAD, POST, PUT, DELETE"],
  );
  t.equal((await preflight("https://evil.example")).headers.get("access-control-allow-methods"), null);
});

t.test("a client has 100 requests a minute, in production 200", async (t) => {
  const origins = ["https://explorer.example", "https://www.example"];
  for (const [profile, expected] of [
    ["development", 100],
    ["production", 200],
  ] as const) {
    const api = await startApi(t, {
      ...services,
      change: ({ limits: { windowSeconds }, ...config }) => ({
        ...config,
        ...{ profile, origins, trustedProxies: ["127.0.0.1"], limits: { windowSeconds } },
      }),
    });
    const { headers } = await api.get("/api/v1/chain", { "X-Forwarded-For": `192.0.2.${expected}` });
    t.equal(headers.get("ratelimit-policy"), `"default";q=${expected};w=60`);
    t.match(headers.get("ratelimit"), new RegExp(`^"default";r=${expected - 1};t=(60|59|5\\d)$`));
  }
});

t.test("a file costs ten requests, and a refused one nothing", async (t) => {
  const api = await startApi(t, limited(12, { trustedProxies: ["127.0.0.1"] }));
  const from = { "X-Forwarded-For": "198.51.100.7" };
  const file = `/api/v1/accounts/0x${"12".repeat(20)}/transactions.csv`;
  t.match((await api.get(file, from)).headers.get("ratelimit"), /r=2;/);
  const refused = await api.get(file, from);
  t.equal(refused.status, 429);
  t.match(refused.headers.get("ratelimit"), /r=2;/);
  t.equal((await api.get("/api/v1/chain", from)).status, 200);
});
