import t from "tap";
import type { ChargeResult } from "../../../gateway/limits/budget.ts";
import type { Limiter } from "../../../gateway/limits/limiter.ts";
import { connectAdmin, findKeys, flushAll, mastersOf, onlySingle } from "../../helpers/redis.ts";
import { waitFor } from "../../helpers/wait-for.ts";
import { startRedisServer } from "./support/redis-server.ts";
import { startSlowProxy } from "./support/slow-proxy.ts";
import { chargeAtOnce, startLimiter } from "./support/start-limiter.ts";

const commandTimeoutMs = 200;
/** The command timeout and what two busy cores may add to it. */
const patienceMs = commandTimeoutMs + 250;

const key = { keyId: "key", team: "partner", limitPerMinute: 100 };

async function timed(charge: () => ChargeResult | Promise<ChargeResult>) {
  const startMs = performance.now();
  const result = await charge();
  return { result, tookMs: performance.now() - startMs };
}

function chargeOne(limiter: Limiter): ChargeResult | Promise<ChargeResult> {
  return limiter.charge({ ...key, costs: [1] });
}

t.test("Redis killed: a tenth of the limit, at once; restarted empty: new windows, by itself", async (t) => {
  const server = await startRedisServer(t);
  const { limiter, stop } = await startLimiter({ url: server.url, commandTimeoutMs });
  t.teardown(stop);
  t.equal((await chargeAtOnce(limiter, key, 60)).admitted, 60);
  t.match(limiter.state(), { answers: true, reason: undefined });

  await server.kill();
  const { tookMs } = await timed(() => chargeOne(limiter));
  t.ok(tookMs < patienceMs, `the first call waited ${Math.round(tookMs)} ms`);
  await waitFor("degraded", () => !limiter.state().answers);
  t.match(limiter.state(), { answers: false, reason: "connection lost" });
  t.strictSame(await chargeAtOnce(limiter, key, 50), { admitted: 9, refused: 41, degraded: 50 });
  const refused = limiter.charge({ ...key, costs: [1] });
  t.notOk(refused instanceof Promise, "nobody waits while it is known");
  t.match(refused, { admitted: [false], limit: 100, remaining: 0, degraded: true });
  t.ok((await refused).retryAfterMs > 50_000);
  t.match(
    limiter.charge({ ...key, keyId: "small", limitPerMinute: 5, costs: [1, 1] }),
    { admitted: [true, false] },
    "at least one call",
  );

  await server.start();
  await waitFor("recovery", () => limiter.state().answers);
  t.strictSame(await chargeAtOnce(limiter, key, 150), { admitted: 100, refused: 50, degraded: 0 });
});

t.test(
  "Redis stopped (SIGSTOP): nobody waits longer than the command timeout, and it recovers",
  async (t) => {
    const server = await startRedisServer(t);
    const { limiter, stop } = await startLimiter({ url: server.url, commandTimeoutMs });
    t.teardown(stop);
    t.equal((await chargeAtOnce(limiter, key, 60)).admitted, 60);

    server.freeze();
    const waits: Promise<{ result: ChargeResult; tookMs: number }>[] = [];
    const endMs = performance.now() + 1000;
    while (performance.now() < endMs) {
      waits.push(timed(() => chargeOne(limiter)));
      // A hundred calls a second: some come before it is known, and some after.
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
    const charges = await Promise.all(waits);
    const longestMs = Math.max(...charges.map(({ tookMs }) => tookMs));
    t.ok(longestMs < patienceMs, `the longest wait was ${Math.round(longestMs)} ms`);
    t.equal(charges.filter(({ result }) => result.admitted[0]).length, 10);
    t.ok(charges.every(({ result }) => result.degraded));
    t.match(limiter.state(), { answers: false, reason: /did not answer within 200 ms|connection lost/ });
    const late = charges.slice(charges.length / 2).filter(({ tookMs }) => tookMs > 20);
    t.ok(late.length < 5, "once it is known, calls do not wait");

    server.thaw();
    await waitFor("recovery", () => limiter.state().answers);
    const after = await chargeAtOnce(limiter, key, 100);
    t.equal(after.degraded, 0);
    // What was sent before the stop may have been carried out after it: then those points are used up, never given twice.
    t.ok(after.admitted <= 40, `${after.admitted} of the 40 that were left`);
  },
);

t.test(
  "Redis too slow: degraded until it is fast again, late answers are not mixed up",
  { skip: onlySingle },
  async (t) => {
    const server = await startRedisServer(t);
    const proxy = await startSlowProxy(Number(new URL(server.url).port));
    t.teardown(() => proxy.stop());
    const { limiter, redis, stop } = await startLimiter({ url: proxy.url, commandTimeoutMs });
    t.teardown(stop);

    proxy.setDelayMs(commandTimeoutMs / 4);
    t.match(
      await chargeOne(limiter),
      { admitted: [true], degraded: false, remaining: 99 },
      "slow, not too slow",
    );

    proxy.setDelayMs(commandTimeoutMs * 2);
    const { result, tookMs } = await timed(() => chargeOne(limiter));
    t.match(result, { admitted: [true], degraded: true });
    t.ok(tookMs < patienceMs, `waited ${Math.round(tookMs)} ms`);

    proxy.setDelayMs(0);
    await waitFor("recovery", () => limiter.state().answers);
    const answers = await Promise.all(["a", "b", "c"].map((text) => redis.echo(text)));
    t.strictSame(answers, ["a", "b", "c"]);
    t.match(await chargeOne(limiter), { admitted: [true], degraded: false });
  },
);

t.test("an unsteady Redis does not add up to more than a tenth in a window", async (t) => {
  const server = await startRedisServer(t);
  const { limiter, stop } = await startLimiter({ url: server.url, commandTimeoutMs });
  t.teardown(stop);
  let local = 0;
  for (let outage = 0; outage < 3; outage += 1) {
    await server.kill();
    await waitFor("degraded", () => !limiter.state().answers);
    const counted = await chargeAtOnce(limiter, key, 6);
    local += counted.admitted;
    await server.start();
    await waitFor("recovery", () => limiter.state().answers);
  }
  t.equal(local, 10);
});

t.test("points held when Redis is lost are not used on top of its new windows", async (t) => {
  const server = await startRedisServer(t);
  const { limiter, stop } = await startLimiter({ url: server.url, commandTimeoutMs });
  t.teardown(stop);
  const busy = { ...key, keyId: "busy", limitPerMinute: 10_000 };
  for (let turn = 0; turn < 20; turn += 1) {
    await limiter.charge({ ...busy, costs: [1, 1, 1, 1, 1] });
    await new Promise((resolve) => setImmediate(resolve));
  }
  t.equal(limiter.keysWithLease(), 1);
  await server.kill();
  await server.start();
  // Whether the loss was noticed before or after the restart, the new window gives out its limit and no more.
  await waitFor("recovery", () => limiter.state().answers && limiter.state().since > 0);
  let admitted = 0;
  for (let turn = 0; turn < 120; turn += 1) {
    const result = await limiter.charge({ ...busy, costs: Array.from({ length: 100 }, () => 1) });
    if (!result.degraded) admitted += result.admitted.filter(Boolean).length;
    await new Promise((resolve) => setImmediate(resolve));
  }
  t.equal(admitted, 10_000);
});

t.test("a team's cap is kept at a tenth, too", async (t) => {
  const server = await startRedisServer(t);
  const { limiter, stop } = await startLimiter({ url: server.url, commandTimeoutMs });
  t.teardown(stop);
  await server.kill();
  await waitFor("degraded", () => !limiter.state().answers);
  const capped = { ...key, teamCapPerMinute: 150 };
  const one = await chargeAtOnce(limiter, { ...capped, keyId: "one" }, 20);
  const two = await chargeAtOnce(limiter, { ...capped, keyId: "two" }, 20);
  t.strictSame([one.admitted, two.admitted], [10, 5]);
});

t.test("a Redis that refuses writes counts as one that does not answer", async (t) => {
  const server = await startRedisServer(t);
  const admin = await connectAdmin(t, server.url);
  const { limiter, stop } = await startLimiter({ url: server.url, commandTimeoutMs });
  t.teardown(stop);
  for (const node of mastersOf(admin)) await node.config("SET", "maxmemory", "1");
  t.match(await chargeOne(limiter), { admitted: [true], degraded: true });
  t.match(limiter.state(), { answers: false, reason: /OOM/ });
  for (const node of mastersOf(admin)) await node.config("SET", "maxmemory", "0");
  await waitFor("recovery", () => limiter.state().answers);
  t.match(await chargeOne(limiter), { degraded: false });
});

t.test("a pause of this process is not taken for a silence of Redis", async (t) => {
  const server = await startRedisServer(t);
  const { limiter, stop } = await startLimiter({ url: server.url, commandTimeoutMs });
  t.teardown(stop);
  const charged = chargeOne(limiter);
  // The command is written at the end of this turn; then nothing runs for longer than the timeout.
  setImmediate(() => setImmediate(() => pause(commandTimeoutMs * 2)));
  t.match(await charged, { admitted: [true], degraded: false });
  t.ok(limiter.state().answers);
});

t.test("scripts that Redis forgot are sent again", async (t) => {
  const server = await startRedisServer(t);
  const admin = await connectAdmin(t, server.url);
  const { limiter, stop } = await startLimiter({ url: server.url, commandTimeoutMs });
  t.teardown(stop);
  await chargeOne(limiter);
  for (const node of mastersOf(admin)) await node.script("FLUSH");
  t.match(await chargeOne(limiter), { admitted: [true], degraded: false, remaining: 98 });
});

function pause(forMs: number): void {
  const endMs = performance.now() + forMs;
  while (performance.now() < endMs);
}

t.test(
  "a Redis that answers and is not to be trusted: a tenth, and no lease from before is used after it",
  async (t) => {
    const server = await startRedisServer(t);
    const admin = await connectAdmin(t, server.url);
    const { limiter, stop } = await startLimiter({ url: server.url, commandTimeoutMs });
    t.teardown(stop);
    const busy = { ...key, limitPerMinute: 20_000 };
    await chargeAtOnce(limiter, busy, 1000);
    await waitFor("a lease", async () => {
      await chargeAtOnce(limiter, busy, 100);
      return limiter.keysWithLease() > 0;
    });
    await flushAll(admin);
    limiter.hold("emptied");
    t.match(limiter.state(), { answers: false, reason: "emptied" });
    const { admitted, degraded } = await chargeAtOnce(limiter, busy, 5000);
    t.strictSame({ admitted, degraded }, { admitted: 2000, degraded: 5000 });
    // Several probes' time: it answers, and is still not asked.
    await new Promise((resolve) => setTimeout(resolve, 200));
    t.match(limiter.state(), { answers: false, reason: "emptied" });
    t.strictSame(await findKeys(admin, "*budget*"), [], "no window was begun meanwhile");

    limiter.hold(undefined);
    await waitFor("trusted again", () => limiter.state().answers);
    let after = 0;
    for (let round = 0; round < 25; round += 1) after += (await chargeAtOnce(limiter, busy, 1000)).admitted;
    t.equal(after, 20_000, "what the new window holds and not a point more");
  },
);
