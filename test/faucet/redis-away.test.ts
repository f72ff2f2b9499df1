import t from "tap";
import { startAnvil } from "../helpers/anvil.ts";
import { coreKey, qaKey, startGateway } from "../helpers/gateway.ts";
import { startRedis } from "../helpers/redis.ts";
import { waitFor } from "../helpers/wait-for.ts";
import { randomAddress } from "./support/outside-wallet.ts";
import { postClaim, startFaucet } from "./support/start-faucet.ts";

t.test("without Redis claims are refused, and taken again when it is back", async (t) => {
  const [redis, anvil] = await Promise.all([startRedis(t), startAnvil(t)]);
  const address = randomAddress();
  const faucet = await startFaucet(t, { redisUrl: redis.url, upstream: anvil.url, allowlist: [{ address }] });
  await redis.kill();
  const refused = await faucet.claim({ address });
  t.match(refused, { status: 503, json: { code: "upstream_unavailable" } });
  t.ok(Number(refused.headers.get("Retry-After")) > 0);
  t.match(await faucet.get("/status"), { status: 503 });
  t.match(await faucet.get("/claims/0123456789abcdef0123456789abcdef"), { status: 503 });
  const page = await fetch(faucet.url, { headers: { Accept: "text/html" } });
  t.equal(page.status, 503, "the page says so too");
  t.match(page.headers.get("Content-Type"), "text/html");
  const away = await page.text();
  t.match(away, /The faucet is away for a moment[\s\S]*href="\/">Try again/);
  const form = await fetch(`${faucet.url}/claim`, {
    method: "POST",
    headers: { "Content-Type": "application/x-www-form-urlencoded", Accept: "text/html" },
    body: new URLSearchParams({ address }),
  });
  t.equal(form.status, 503);
  const refusedForm = await form.text();
  t.ok(refusedForm.includes(`value="${address}"`), "what was typed stays");
  t.match(refusedForm, "Claim again: you will not be paid twice. Try again in 1 second.");
  t.match(await fetch(`${faucet.opsUrl}/readyz`).then((response) => response.json()), {
    // Of a cluster it is one node that is missed.
    reasons: [/^Redis does not answer$|^the node of the Redis cluster that has the slot of /],
  });
  await redis.restart();
  // One whose answer is lost may have been taken: its key finds it again.
  const headers = { "Idempotency-Key": "after-the-outage" };
  await waitFor("taken", async () => (await faucet.claim({ address }, { headers })).status === 202);
});

t.test("a Redis that could forget is warned of; one that writes at once is not", async (t) => {
  const [late, durable, anvil] = await Promise.all([
    startRedis(t),
    startRedis(t, { appendfsync: "always" }),
    startAnvil(t),
  ]);
  const warned = await startFaucet(t, { redisUrl: late.url, upstream: anvil.url });
  t.ok(warned.logLines.some((line) => line.includes("appendfsync everysec, not always")));
  await warned.stop();
  const quiet = await startFaucet(t, { redisUrl: durable.url, upstream: anvil.url });
  t.notOk(quiet.logLines.some((line) => line.includes("append-only")));
  t.match(await fetch(`${quiet.opsUrl}/status`).then((response) => response.json()), {
    durabilityWarning: null,
  });
});

t.test("through the gateway a claim is its team's", async (t) => {
  const [redis, anvil] = await Promise.all([startRedis(t), startAnvil(t)]);
  const addresses = [randomAddress(), randomAddress()];
  const faucet = await startFaucet(t, {
    redisUrl: redis.url,
    upstream: anvil.url,
    allowlist: addresses.map((address) => ({ address })),
    change: (config) => ({ ...config, limits: { ...config.limits, perTeam: 1 } }),
  });
  const gateway = await startGateway(t, {
    redisUrl: redis.url,
    upstreams: [anvil.url],
    change: (config) => ({ ...config, faucetUrl: faucet.privateUrl }),
  });
  const claim = (address: string | undefined) =>
    postClaim(`${gateway.url}faucet`, { address, website: "" }, { "X-API-Key": coreKey });
  const taken = await claim(addresses[0]);
  const { status, json } = taken;
  t.equal(status, 202);
  t.match(await faucet.ended(json.claim.id), { status: "confirmed" });
  t.equal(taken.headers.get("Location"), `/faucet/claims/${json.claim.id}`);
  t.match(taken.headers.get("RateLimit"), /^"[^"]+";r=\d+;t=\d+, "address";r=0;t=\d+, "team";r=0;t=\d+$/);
  t.match(taken.headers.get("RateLimit-Policy"), /^"[^"]+";q=.*, "address";q=1;w=86400, "team";q=1;w=86400$/);
  const follow = (path: string, key: string | undefined, method = "GET") =>
    fetch(new URL(path, gateway.url), { method, headers: key === undefined ? {} : { "X-API-Key": key } });
  const followed = await follow(`/faucet/claims/${json.claim.id}`, coreKey);
  t.equal(followed.status, 200);
  t.match(await followed.json(), { claim: { id: json.claim.id, status: "confirmed" } });
  t.ok(followed.headers.get("RateLimit"));
  for (const [path, key, method, expected] of [
    [`/faucet/claims/${json.claim.id}`, undefined, "GET", 401],
    [`/faucet/claims/${json.claim.id}`, qaKey, "GET", 403],
    [`/faucet/claims/${json.claim.id}`, coreKey, "DELETE", 405],
    [`/faucet/claims/${"0".repeat(32)}`, coreKey, "GET", 404],
    ["/faucet/claims/..%2Fstatus", coreKey, "GET", 404],
    ["/faucet/claims/", coreKey, "GET", 404],
  ] as const) {
    const response = await follow(path, key, method);
    t.equal(response.status, expected, `${method} ${path}`);
    t.equal(response.headers.get("Content-Type"), "application/problem+json");
  }
  t.match(await claim(addresses[1]), { status: 429, json: { code: "rate_limited", detail: /team/ } });
  t.match(await claim(randomAddress()), { status: 403, json: { code: "not_allowlisted" } });
});
