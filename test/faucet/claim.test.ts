import t, { type Test } from "tap";
import type { FaucetConfig } from "../../faucet/config.ts";
import { startAnvil } from "../helpers/anvil.ts";
import { rawRequest } from "../helpers/raw-http.ts";
import { connectAdmin, flushAll, isCluster, startRedis } from "../helpers/redis.ts";
import { randomAddress } from "./support/outside-wallet.ts";
import { type Entry, startFaucet } from "./support/start-faucet.ts";

const redis = await startRedis(t);
const anvil = await startAnvil(t);

/** A faucet of its own with a Redis database of its own; `at` moves Redis's clock. */
async function start(
  t: Test,
  {
    allowlist,
    limits = {},
    trustedProxies = [],
  }: { allowlist: readonly Entry[]; limits?: Partial<FaucetConfig["limits"]>; trustedProxies?: string[] },
) {
  // A cluster has no databases: what the test before has left goes.
  if (isCluster) await flushAll(await connectAdmin(t, redis.url));
  database += 1;
  let nowMs = 1_800_000_000_000;
  const faucet = await startFaucet(t, {
    redisUrl: isCluster ? redis.url : `${redis.url}/${database}`,
    upstream: anvil.url,
    allowlist,
    redisNow: () => nowMs,
    change: (config) => ({
      ...config,
      trustedProxies,
      limits: { ...config.limits, perClient: 5, ...limits },
    }),
  });
  return {
    ...faucet,
    later: (lengthMs: number) => {
      nowMs += lengthMs;
    },
  };
}

let database = 0;
const dayMs = 86_400_000;
const entries = (count: number) => Array.from({ length: count }, () => ({ address: randomAddress() }));

t.test("a claim is paid, and followed to its confirmation", async (t) => {
  const address = randomAddress();
  const faucet = await start(t, { allowlist: [{ address }] });
  const posted = await faucet.claim({ address, website: "" });
  t.equal(posted.status, 202);
  t.match(posted.json.claim, { id: /^[0-9a-f]{32}$/, address, amount: "10000000000000000000", txHash: null });
  t.equal(posted.headers.get("Location"), `/claims/${posted.json.claim.id}`);
  t.match(await faucet.ended(posted.json.claim.id), { status: "confirmed", txHash: /^0x[0-9a-f]{64}$/ });
  t.equal(await anvil.rpc("eth_getBalance", [address, "latest"]), "0x8ac7230489e80000");
  t.match(JSON.parse((await faucet.get("/status")).text), {
    address: faucet.wallet,
    chainId: 8845,
    amount: "10000000000000000000",
    balance: /^\d+$/,
    limits: { perAddress: 1, perClient: 5, overall: 1_000_000, windowSeconds: 86_400 },
    waiting: 0,
    underWay: 0,
    paused: false,
    allowlist: { entries: 1, problem: null },
  });
  t.match(await faucet.get("/health"), { status: 200, text: '{"status":"ok"}' });
  t.match(await faucet.get("/claims/0123456789abcdef0123456789abcdef"), { status: 404, text: /not_found/ });
});

t.test("an address may be written in one case, and website left out", async (t) => {
  const [lower, upper] = entries(2);
  const faucet = await start(t, { allowlist: entries(0).concat(lower ?? [], upper ?? []) });
  t.match(await faucet.claim({ address: lower?.address.toLowerCase() }), { status: 202 });
  const upperCase = `0x${upper?.address.slice(2).toUpperCase()}`;
  const { status, json } = await faucet.claim({ address: upperCase, website: "", extra: 1 });
  t.match(
    { status, address: json.claim.address },
    { status: 202, address: upper?.address },
    "answered with its checksum",
  );
});

t.test("an allowlist entry's own amount", async (t) => {
  const address = randomAddress();
  const faucet = await start(t, { allowlist: [{ address, amount: "0.25" }] });
  const { json } = await faucet.claim({ address });
  t.equal(json.claim.amount, "250000000000000000");
  await faucet.ended(json.claim.id);
  t.equal(BigInt(String(await anvil.rpc("eth_getBalance", [address, "latest"]))), 250_000_000_000_000_000n);
});

t.test("refusals touch no limit and no wallet, and say what is wrong", async (t) => {
  const [{ address } = { address: "" }, contract = { address: "" }] = entries(2);
  const faucet = await start(t, { allowlist: [{ address }, contract], limits: { perClient: 1 } });
  await anvil.rpc("anvil_setCode", [contract.address, "0x00"]);
  const wrongCase = address.replace(/[a-f]/i, (sign) =>
    sign === sign.toLowerCase() ? sign.toUpperCase() : sign.toLowerCase(),
  );
  const pointer = "/address";
  const cases: [unknown, number, string, object][] = [
    ["{", 400, "invalid_request", { detail: "The body is not valid JSON" }],
    ["[]", 400, "invalid_request", {}],
    ["null", 400, "invalid_request", {}],
    [{}, 400, "invalid_request", { errors: [{ pointer }] }],
    [{ address: 5 }, 400, "invalid_request", { errors: [{ pointer }] }],
    [
      { address: "0x12" },
      400,
      "invalid_request",
      { errors: [{ pointer, message: /40 hexadecimal digits/ }] },
    ],
    [{ address: `${address}00` }, 400, "invalid_request", { errors: [{ pointer }] }],
    [{ address: wrongCase }, 400, "invalid_request", { errors: [{ pointer, message: /checksum.*EIP-55/ }] }],
    [
      { address: `0x${"0".repeat(40)}` },
      400,
      "invalid_request",
      { errors: [{ pointer, message: /zero address/ }] },
    ],
    [{ address: contract.address }, 400, "invalid_request", { errors: [{ pointer, message: /contract/ }] }],
    [{ address: randomAddress() }, 403, "not_allowlisted", {}],
  ];
  for (const [body, status, code, more] of cases) {
    const answer = await faucet.claim(body);
    t.match(
      answer,
      { status, json: { status, code, title: String, requestId: String, ...more } },
      JSON.stringify(body),
    );
    t.equal(answer.headers.get("Content-Type"), "application/problem+json");
    t.equal(answer.headers.get("RateLimit"), null);
  }
  t.match(JSON.parse((await faucet.get("/status")).text), { claimsInWindow: 0, waiting: 0, underWay: 0 });
  t.match(await faucet.claim({ address }), { status: 202 }, "none of them counted");
});

t.test("the honeypot: whatever is in website but nothing is refused, in the same words", async (t) => {
  const address = randomAddress();
  const faucet = await start(t, { allowlist: [{ address }] });
  const words = new Set<string>();
  const filled: unknown[] = ["https://spam.example", " ", 0, null, false, [], {}];
  for (const website of filled) {
    const { status, json } = await faucet.claim({ address, website });
    t.match({ status, code: json.code }, { status: 400, code: "request_refused" });
    words.add(json.detail);
  }
  // An address that is not on the list is refused for the honeypot first: nobody finds out who is on it.
  const { json } = await faucet.claim({ address: randomAddress(), website: "x" });
  words.add(json.detail);
  t.equal(words.size, 1);
  const metrics = await fetch(`${faucet.opsUrl}/metrics`).then((response) => response.text());
  t.match(metrics, new RegExp(`^tollgate_faucet_honeypot_total ${filled.length + 1}$`, "m"));
  t.match(await faucet.claim({ address, website: "" }), { status: 202 });
});

t.test("bodies that are too large, of another type, or sent by another method", async (t) => {
  const faucet = await start(t, { allowlist: [] });
  const large = JSON.stringify({ address: "0x", website: "x".repeat(4096) });
  t.match(await faucet.claim(large), { status: 413, json: { code: "body_too_large", detail: /4096/ } });
  t.match(await faucet.claim("{}", { headers: { "Content-Type": "text/plain" } }), {
    status: 415,
    json: { code: "unsupported_media_type" },
  });
  const bare = await fetch(`${faucet.url}/claim`, { method: "POST" });
  t.equal(bare.status, 415);
  for (const [path, method, allow] of [
    ["/claim", "GET", "POST"],
    ["/status", "POST", "GET, HEAD"],
    ["/claims/x", "DELETE", "GET, HEAD"],
  ] as const) {
    const response = await fetch(faucet.url + path, { method });
    t.match({ status: response.status, allow: response.headers.get("Allow") }, { status: 405, allow });
  }
  t.equal((await faucet.get("/nothing")).status, 404);
});

t.test("an Idempotency-Key answers with the first claim; for another address it is refused", async (t) => {
  const [first, second] = entries(2);
  const faucet = await start(t, { allowlist: [first ?? { address: "" }, second ?? { address: "" }] });
  const headers = { "Idempotency-Key": "a-key" };
  const once = await faucet.claim(first, { headers });
  const again = await faucet.claim({ ...first, website: "" }, { headers });
  t.match([once.status, again.status, again.json.claim.id], [202, 202, once.json.claim.id]);
  t.match(await faucet.claim(second, { headers }), { status: 422, json: { code: "idempotency_key_reused" } });
  t.match(await faucet.claim(second, { headers: { "Idempotency-Key": "other" } }), { status: 202 });
  t.match(await faucet.claim(first, { headers: { "Idempotency-Key": "new" } }), { status: 429 });
  t.match(await faucet.claim(second, { headers: { "Idempotency-Key": "x".repeat(256) } }), { status: 400 });
  await faucet.ended(once.json.claim.id);
  const later = await faucet.claim(first, { headers });
  t.match(later.json.claim, { id: once.json.claim.id, status: "confirmed" }, "also after its end");
});

t.test(
  "one claim an address in 24 hours: refused with the time to wait, and possible after it",
  async (t) => {
    const address = randomAddress();
    const faucet = await start(t, { allowlist: [{ address }] });
    const first = await faucet.claim({ address });
    t.equal(first.headers.get("RateLimit-Policy"), '"address";q=1;w=86400, "client";q=5;w=86400');
    t.equal(first.headers.get("RateLimit"), '"address";r=0;t=86400, "client";r=4;t=86400');
    faucet.later(dayMs - 1500);
    const refused = await faucet.claim({ address });
    t.match(refused, { status: 429, json: { code: "rate_limited" } });
    t.equal(refused.headers.get("Retry-After"), "2");
    t.equal(refused.headers.get("RateLimit"), '"address";r=0;t=2, "client";r=4;t=2');
    faucet.later(1500);
    t.match(await faucet.claim({ address }), { status: 202 });
  },
);

t.test(
  "so many claims a client and so many over all; each one is free again a window after it was made",
  async (t) => {
    const list = entries(6);
    const faucet = await start(t, {
      allowlist: list,
      limits: { perClient: 2, overall: 3 },
      trustedProxies: ["127.0.0.1"],
    });
    const from = (index: number, client: string) =>
      faucet.claim(list[index], { headers: { "X-Forwarded-For": client } });
    t.equal((await from(0, "192.0.2.1")).status, 202);
    faucet.later(1000);
    t.equal((await from(1, "192.0.2.1")).status, 202);
    const limited = await from(2, "192.0.2.1");
    t.match(limited, { status: 429, json: { detail: /network address/ } });
    t.equal(limited.headers.get("Retry-After"), String(dayMs / 1000 - 1));
    t.equal((await from(2, "192.0.2.2")).status, 202);
    t.match(await from(3, "192.0.2.3"), { status: 429, json: { detail: /in one day/ } });
    faucet.later(dayMs - 1000);
    t.equal((await from(3, "192.0.2.1")).status, 202, "the first has left the window");
    t.equal((await from(4, "192.0.2.1")).status, 429, "the second has not");
  },
);

t.test("X-Forwarded-For counts from trusted proxies only; IPv6 clients count by their /64", async (t) => {
  const list = entries(6);
  const claims = async (trustedProxies: string[], clients: readonly string[]) => {
    const faucet = await start(t, { allowlist: list, limits: { perClient: 1 }, trustedProxies });
    const statuses = [];
    for (const [index, client] of clients.entries()) {
      statuses.push((await faucet.claim(list[index], { headers: { "X-Forwarded-For": client } })).status);
    }
    return statuses;
  };
  t.same(await claims([], ["192.0.2.1", "192.0.2.2"]), [202, 429], "an invented address changes nothing");
  t.same(await claims(["127.0.0.1"], ["192.0.2.1", "192.0.2.2"]), [202, 202]);
  t.same(await claims(["127.0.0.1"], ["198.51.100.1, 192.0.2.1", "198.51.100.2, 192.0.2.1"]), [202, 429]);
  t.same(
    await claims(["127.0.0.1"], ["2001:db8:0:1::1", "2001:db8:0:1:ffff::2", "2001:db8:0:2::1"]),
    [202, 429, 202],
  );
});

t.test("the private listener counts by team, and believes only itself", async (t) => {
  const list = entries(4);
  const faucet = await start(t, { allowlist: list, limits: { perClient: 1, perTeam: 2 } });
  const asTeam = (index: number, team?: string, url = faucet.privateUrl) =>
    faucet.claim(list[index], { url, headers: team === undefined ? {} : { "X-Tollgate-Team": team } });
  const first = await asTeam(0, "core");
  t.equal(first.status, 202);
  t.equal(first.headers.get("RateLimit"), '"address";r=0;t=86400, "team";r=1;t=86400');
  t.equal((await asTeam(1, "core")).status, 202);
  t.match(await asTeam(2, "core"), { status: 429, json: { detail: /team/ } });
  t.equal((await asTeam(2, "partner-qa")).status, 202);
  t.match(await asTeam(3), { status: 400, json: { code: "invalid_request" } });
  t.match(await asTeam(3, "Not A Team"), { status: 400 });
  t.equal((await asTeam(3, "core", faucet.url)).status, 202, "the public port does not know the header");
  t.match(await asTeam(3, "core", faucet.url), { status: 429, json: { detail: /The address/ } });
  t.equal((await fetch(`${faucet.privateUrl}/`)).status, 404, "no pages there");
});

t.test("a page whose domain was turned to the private listener claims for no team", async (t) => {
  const list = entries(1);
  const faucet = await start(t, { allowlist: list });
  const { port } = new URL(faucet.privateUrl);
  const body = JSON.stringify(list[0]);
  const claimTo = async (host: string) => {
    const headers = { Host: host, "X-Tollgate-Team": "core", "Content-Length": String(body.length) };
    const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
    const head = ["POST /claim HTTP/1.1", ...lines, "Content-Type: application/json"].join("\r\n");
    return (await rawRequest(Number(port), `${head}\r\n\r\n${body}`)).responses[0];
  };
  const refused = await claimTo("evil.example");
  t.equal(refused?.status, 403);
  t.match(JSON.parse(refused?.body ?? ""), { code: "forbidden", detail: /private\.hosts/ });
  t.equal((await claimTo("localhost"))?.status, 202, "and has cost the address nothing");
});
