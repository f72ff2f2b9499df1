import t from "tap";
import { createFailureLimiter } from "../../../gateway/limits/failure-limiter.ts";
import { startStopwatch } from "../../helpers/stopwatch.ts";
import { waitFor } from "../../helpers/wait-for.ts";
import { startRedisServer } from "./support/redis-server.ts";
import { connectRedis } from "./support/start-limiter.ts";

const server = await startRedisServer(t);

async function startFailureLimiter({ points = 3, durationSeconds = 60 } = {}) {
  const redis = connectRedis(server.url);
  await waitFor("connection", () => redis.status === "ready");
  return { redis, failures: createFailureLimiter({ redis, points, durationSeconds }) };
}

t.test("an address is blocked after its failures, for the rest of the time, and no other is", async (t) => {
  const { redis, failures } = await startFailureLimiter();
  t.teardown(() => redis.disconnect());
  const address = "192.0.2.1";
  t.equal(failures.blockedForMs(address), 0);
  t.equal(await failures.countFailure(address), 0);
  t.equal(await failures.countFailure(address), 0);
  const blockedMs = await failures.countFailure(address);
  t.ok(blockedMs > 55_000 && blockedMs <= 60_000, `${blockedMs} ms`);
  t.ok(failures.blockedForMs(address) > 55_000);
  t.equal(failures.blockedForMs("192.0.2.2"), 0);
  t.equal(await failures.countFailure("192.0.2.2"), 0);
});

t.test("IPv6 addresses of one /64 are one", async (t) => {
  const { redis, failures } = await startFailureLimiter();
  t.teardown(() => redis.disconnect());
  for (const host of [1, 2, 3]) await failures.countFailure(`2001:db8:0:1:0:0:0:${host}`);
  t.ok(failures.blockedForMs("2001:db8:0:1:9:9:9:9") > 0);
  t.equal(failures.blockedForMs("2001:db8:0:2:0:0:0:1"), 0);
});

t.test("a blocked address costs Redis nothing", async (t) => {
  const { redis, failures } = await startFailureLimiter();
  t.teardown(() => redis.disconnect());
  const address = "192.0.2.10";
  for (let failure = 0; failure < 3; failure += 1) await failures.countFailure(address);
  const counted = await redis.get(`failures:${address}`);
  for (let failure = 0; failure < 50; failure += 1) await failures.countFailure(address);
  t.equal(counted, "3");
  t.equal(await redis.get(`failures:${address}`), "3");
});

t.test("processes count together", async (t) => {
  const one = await startFailureLimiter();
  const two = await startFailureLimiter();
  t.teardown(() => [one, two].map(({ redis }) => redis.disconnect()));
  const address = "192.0.2.20";
  await one.failures.countFailure(address);
  await two.failures.countFailure(address);
  t.ok((await one.failures.countFailure(address)) > 0);
  t.equal(two.failures.blockedForMs(address), 0, "the other does not know yet");
  t.ok((await two.failures.countFailure(address)) > 0, "and learns it with the next failure");
});

t.test("a block ends", async (t) => {
  const { redis, failures } = await startFailureLimiter({ points: 1, durationSeconds: 1 });
  t.teardown(() => redis.disconnect());
  const address = "192.0.2.30";
  t.ok((await failures.countFailure(address)) > 0);
  await waitFor("end of the block", () => failures.blockedForMs(address) === 0);
  t.ok((await failures.countFailure(address)) > 0, "counted anew");
});

t.test("without Redis failures are counted in memory, with no wait", async (t) => {
  const own = await startRedisServer(t);
  t.teardown(() => own.kill());
  const redis = connectRedis(own.url);
  t.teardown(() => redis.disconnect());
  await waitFor("connection", () => redis.status === "ready");
  const failures = createFailureLimiter({ redis, points: 3, durationSeconds: 60 });
  await own.kill();
  await waitFor("lost connection", () => redis.status !== "ready");
  const stopwatch = startStopwatch();
  t.equal(await failures.countFailure("192.0.2.40"), 0);
  t.equal(await failures.countFailure("192.0.2.40"), 0);
  t.ok((await failures.countFailure("192.0.2.40")) > 0);
  t.equal(failures.blockedForMs("192.0.2.41"), 0);
  t.ok(stopwatch.elapsedMs() < 200);
});

t.test("failures beyond what Redis is asked a second are counted by the process alone", async (t) => {
  const redis = connectRedis(server.url);
  t.teardown(() => redis.disconnect());
  await waitFor("connection", () => redis.status === "ready");
  let nowMs = 0;
  const failures = createFailureLimiter({
    redis,
    points: 3,
    durationSeconds: 60,
    sharedPerSecondMax: 2,
    monotonicMs: () => nowMs,
  });
  const counted = async () => Number(await redis.get("failures:192.0.2.50"));
  for (let failure = 0; failure < 2; failure += 1) await failures.countFailure("192.0.2.50");
  t.equal(await counted(), 2);
  for (let failure = 0; failure < 2; failure += 1)
    t.equal(await failures.countFailure("192.0.2.50"), 0, "two of its own");
  t.equal(await counted(), 2);
  t.ok((await failures.countFailure("192.0.2.50")) > 0, "which has a limit too");
  t.equal(await failures.countFailure("192.0.2.51"), 0);
  nowMs += 1000;
  await failures.countFailure("192.0.2.52");
  t.equal(await redis.get("failures:192.0.2.52"), "1", "Redis is asked again a second later");
});
