import t from "tap";
import { startStubValidator } from "../fakes/stub-validator.ts";
import { coreKey, type GatewayUnderTest, qaKey, startGateway } from "../helpers/gateway.ts";
import { startRedis } from "../helpers/redis.ts";
import { waitFor } from "../helpers/wait-for.ts";

const chainId = { jsonrpc: "2.0", id: 1, method: "eth_chainId" };

async function timed<T>(work: Promise<T>): Promise<{ value: T; elapsedMs: number }> {
  const started = performance.now();
  return { value: await work, elapsedMs: performance.now() - started };
}

async function readyz(gateway: GatewayUnderTest) {
  const response = await fetch(`${gateway.opsUrl}/readyz`);
  return { status: response.status, json: await response.json() };
}

for (const fault of ["killed", "stopped in its tracks"] as const) {
  t.test(`Redis ${fault}`, async (t) => {
    const redis = await startRedis(t);
    const validator = await startStubValidator(t);
    const gateway = await startGateway(t, {
      redisUrl: redis.url,
      upstreams: [validator.url],
      change: (config) => ({
        ...config,
        redisCommandTimeoutMs: 250,
        keys: config.keys.map((key) => (key.value === coreKey ? { ...key, limitPerMinute: 50 } : key)),
      }),
    });
    t.equal((await gateway.post(chainId)).status, 200);
    if (fault === "killed") await redis.kill();
    else redis.freeze();

    const first = await timed(gateway.post(chainId));
    t.ok(first.elapsedMs < 1500, `nothing waits longer than the command timeout (${first.elapsedMs} ms)`);
    t.equal(first.value.status, 200, "a key in memory goes on");

    const statuses = [first.value.status];
    for (let call = 0; call < 9; call += 1) {
      const { value, elapsedMs } = await timed(gateway.post(chainId));
      t.ok(elapsedMs < 1000, "known to be away, nobody waits");
      statuses.push(value.status);
    }
    t.equal(statuses.filter((status) => status === 200).length, 5, "a tenth of its limit");
    t.equal(statuses.filter((status) => status === 429).length, 5);

    const unknown = await timed(gateway.post(chainId, { key: qaKey }));
    t.equal(unknown.value.status, 503, "a key that is not in memory cannot be checked");
    t.match(unknown.value.json, { error: { data: { code: "upstream_unavailable" } } });
    t.ok(unknown.elapsedMs < 1500);

    const claim = await fetch(new URL("/faucet/claim", gateway.url), {
      method: "POST",
      headers: { "Content-Type": "application/json", "X-API-Key": coreKey },
      body: "{}",
    });
    t.ok(claim.status === 503 || claim.status === 429, "claims are refused");

    t.match(await readyz(gateway), {
      status: 200,
      json: { ready: true, degraded: true, reasons: [/Redis/] },
    });
    const metrics = await (await fetch(`${gateway.opsUrl}/metrics`)).text();
    t.match(metrics, /^tollgate_limits_degraded 1$/m);

    if (fault === "killed") await redis.restart();
    else redis.thaw();
    t.ok(
      await waitFor(
        "it recovers by itself",
        async () => !(await (await fetch(`${gateway.opsUrl}/readyz`)).text()).includes("Redis does not"),
      ),
      "it recovers by itself",
    );
    t.ok(
      await waitFor(
        "a second key is served",
        async () => (await gateway.post(chainId, { key: qaKey })).status === 200,
      ),
    );
  });
}

t.test("a gateway that finds no Redis waits for it, says so, and then starts", async (t) => {
  const redis = await startRedis(t);
  const validator = await startStubValidator(t);
  await redis.kill();
  const starting = startGateway(t, { redisUrl: redis.url, upstreams: [validator.url] });
  // A second without Redis: it neither serves nor gives up.
  const early = await Promise.race([
    starting,
    new Promise((resolve) => setTimeout(resolve, 1000, "waiting")),
  ]);
  t.equal(early, "waiting");
  await redis.restart();
  const gateway = await starting;
  t.equal((await gateway.post(chainId)).status, 200);
  t.ok(gateway.logLines.some((line) => /Redis/.test(line)));
});
