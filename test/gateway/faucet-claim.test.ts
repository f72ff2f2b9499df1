import t from "tap";
import { startStubValidator } from "../fakes/stub-validator.ts";
import { coreKey, qaKey, startGateway } from "../helpers/gateway.ts";
import { startRedis } from "../helpers/redis.ts";

const claim = JSON.stringify({ address: "0x70997970C51812dc3A010C7d01b50e0d17dc79C8", website: "" });

t.test("POST /faucet/claim", async (t) => {
  const redis = await startRedis(t);
  const validator = await startStubValidator(t);
  const requests: { path: string | undefined; team: unknown; body: string; idempotencyKey?: string }[] = [];
  const faucet = await startStubValidator(t, {
    answer(body, response, request) {
      const key = request.headers["idempotency-key"];
      const told = typeof key === "string" ? { idempotencyKey: key } : {};
      requests.push({ path: request.url, team: request.headers["x-tollgate-team"], body, ...told });
      if (key === "limited") {
        response
          .writeHead(429, { "Content-Type": "application/problem+json", "Retry-After": "86400" })
          .end("{}");
      } else response.writeHead(202, { "Content-Type": "application/json" }).end('{"claim":{"id":"c1"}}');
      return undefined;
    },
  });
  const upstreams = [validator.url];
  const gateway = await startGateway(t, {
    redisUrl: redis.url,
    upstreams,
    change: (config) => ({ ...config, faucetUrl: faucet.url }),
  });
  const post = (
    key: string | undefined,
    {
      body = claim,
      url = gateway.url,
      idempotencyKey,
    }: { body?: string; url?: string; idempotencyKey?: string } = {},
  ) =>
    fetch(new URL("/faucet/claim", url), {
      method: "POST",
      headers: {
        "Content-Type": "application/json",
        "X-Tollgate-Team": "somebody-else",
        ...(key === undefined ? {} : { "X-API-Key": key }),
        ...(idempotencyKey === undefined ? {} : { "Idempotency-Key": idempotencyKey }),
      },
      body,
    });

  t.test("a key with faucet: passed on with the key's team, whatever the client says of it", async (t) => {
    const response = await post(coreKey);
    t.equal(response.status, 202);
    t.same(await response.json(), { claim: { id: "c1" } });
    t.ok(response.headers.get("RateLimit"));
    t.same(requests, [{ path: "/claim", team: "core", body: claim }]);
  });

  t.test("what makes a repetition harmless goes along, and when to come again comes back", async (t) => {
    t.equal((await post(coreKey, { idempotencyKey: "once" })).status, 202);
    t.match(requests.at(-1), { idempotencyKey: "once" });
    const refused = await post(coreKey, { idempotencyKey: "limited" });
    t.equal(refused.status, 429);
    t.equal(refused.headers.get("Retry-After"), "86400");
  });

  t.test(
    "a key without faucet, and no key, are refused as problem documents; the faucet sees nothing",
    async (t) => {
      const before = requests.length;
      for (const [key, status, code] of [
        [qaKey, 403, "insufficient_permission"],
        [undefined, 401, "api_key_missing"],
      ] as const) {
        const response = await post(key);
        t.equal(response.status, status);
        t.equal(response.headers.get("Content-Type"), "application/problem+json");
        t.match(await response.json(), { status, code, detail: String });
      }
      t.equal(requests.length, before);
    },
  );

  t.test("a claim larger than 4 KiB is refused", async (t) => {
    t.equal((await post(coreKey, { body: `"${"x".repeat(4096)}"` })).status, 413);
  });

  t.test("a faucet that does not answer, or none at all, is 503", async (t) => {
    await faucet.stop();
    t.equal((await post(coreKey)).status, 503);
    const without = await startGateway(t, { redisUrl: redis.url, upstreams });
    const response = await post(coreKey, { url: without.url });
    t.equal(response.status, 503);
    t.match(await response.json(), { code: "upstream_unavailable", detail: /no faucet/ });
  });
});
