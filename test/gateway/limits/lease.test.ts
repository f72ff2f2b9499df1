import { mkdtempSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import t from "tap";
import { createBudgetStore } from "../../../gateway/limits/budget-store.ts";
import { waitFor } from "../../helpers/wait-for.ts";
import { startProcesses } from "./support/processes.ts";
import { startRedisServer } from "./support/redis-server.ts";
import { chargeAtOnce, connectRedis, startLimiter } from "./support/start-limiter.ts";

const server = await startRedisServer(t);
const redis = connectRedis(server.url);
await waitFor("connection", () => redis.status === "ready");
t.teardown(async () => {
  redis.disconnect();
  await server.kill();
});

let keys = 0;
function newKey(limitPerMinute = 60_000) {
  keys += 1;
  return { keyId: `key-${keys}`, team: "partner", limitPerMinute };
}

async function usedOf({ keyId, team }: { keyId: string; team: string }): Promise<number> {
  return Number(await redis.hget(`{team:${team}}:budget:${keyId}`, "u"));
}

t.test("a busy key is mostly charged in memory, at once", async (t) => {
  const { limiter, stop } = await startLimiter({ url: server.url });
  t.teardown(stop);
  const key = newKey();
  let atOnce = 0;
  for (let turn = 0; turn < 300; turn += 1) {
    for (let call = 0; call < 10; call += 1) {
      const result = limiter.charge({ ...key, costs: [1] });
      if (!(result instanceof Promise)) atOnce += 1;
      else t.strictSame((await result).admitted, [true]);
    }
    await new Promise((resolve) => setImmediate(resolve));
  }
  t.ok(atOnce > 2500, `${atOnce} of 3000 did not wait`);
  t.ok(limiter.stats().commands.take < 300, `${limiter.stats().commands.take} commands`);
});

t.test("a key with a limit of 6 000 or a team's cap of 6 000 asks for each call", async (t) => {
  const { limiter, stop } = await startLimiter({ url: server.url });
  t.teardown(stop);
  for (const key of [newKey(6000), { ...newKey(), team: "six", teamCapPerMinute: 6000 }]) {
    for (let call = 0; call < 20; call += 1) {
      t.ok(limiter.charge({ ...key, costs: [1] }) instanceof Promise);
      await limiter.charge({ ...key, costs: [1] });
    }
    t.equal(await usedOf(key), 40, "nothing is taken in advance");
  }
});

t.test("a key that is used now and then takes nothing in advance", async (t) => {
  const { limiter, stop } = await startLimiter({ url: server.url });
  t.teardown(stop);
  const key = newKey();
  for (let call = 1; call <= 3; call += 1) {
    await limiter.charge({ ...key, costs: [1] });
    t.equal(await usedOf(key), call);
    // Now and then: no more than eight calls a second.
    await new Promise((resolve) => setTimeout(resolve, 120));
  }
  t.equal(limiter.stats().commands.giveBack, 0);
});

t.test("points that an idle process holds go back, and only what was used stays counted", async (t) => {
  const processes = await startProcesses(2, { url: server.url });
  t.teardown(() => Promise.all(processes.map((one) => one.stop())));
  const key = newKey();
  const progressFile = join(mkdtempSync(join(tmpdir(), "limits-")), "progress");
  const counted = await Promise.all([
    processes[0]?.load(key, { forMs: 300, progressFile }),
    processes[1]?.load(key, { forMs: 300, progressFile: `${progressFile}-2` }),
  ]);
  const admitted = counted.reduce((sum, one) => sum + (one?.admitted ?? 0), 0);
  t.ok(admitted > 1000, `${admitted} admitted`);
  const before = await usedOf(key);
  const stoppedMs = performance.now();
  await waitFor(`of ${before} taken, ${admitted} stay`, async () => (await usedOf(key)) === admitted);
  const tookMs = performance.now() - stoppedMs;
  t.ok(tookMs < 1000, `after ${Math.round(tookMs)} ms`);
});

t.test("three processes under load, one killed with -9: never above, almost all of it used", async (t) => {
  const limit = 60_000;
  const processes = await startProcesses(3, { url: server.url });
  t.teardown(() => Promise.all(processes.map((one) => one.stop())));
  const key = newKey(limit);
  const folder = mkdtempSync(join(tmpdir(), "limits-"));
  const files = [0, 1, 2].map((place) => join(folder, String(place)));
  const loads = processes.map((one, place) =>
    one.load(key, { forMs: 20_000, progressFile: files[place] ?? "" }),
  );
  loads[0]?.catch(() => {});
  await waitFor("load", async () => (await usedOf(key)) > limit / 10);
  await processes[0]?.kill();
  const ofKilled = Number(readFileSync(files[0] ?? "", "utf8"));
  const ofOthers = await Promise.all(loads.slice(1));
  const admitted = ofKilled + ofOthers.reduce((sum, one) => sum + one.admitted, 0);
  t.ok(ofKilled > 0, `the killed one admitted ${ofKilled}`);
  t.ok(admitted <= limit, `${admitted} admitted of ${limit}`);
  // Only what the killed process held is lost, and what one survivor held when the other was refused.
  t.ok(admitted > limit * 0.9, `${limit - admitted} lost`);
  t.ok((await usedOf(key)) <= limit);
});

t.test("near the end of the budget single points are leased, and all of it is given out", async (t) => {
  const one = await startLimiter({ url: server.url });
  const two = await startLimiter({ url: server.url });
  t.teardown(() => Promise.all([one.stop(), two.stop()]));
  const key = newKey(7000);
  let admitted = 0;
  let refusedSince = 0;
  // Points that the other holds come back within 100 ms of its last call: go on until nothing was left for longer.
  while (refusedSince === 0 || performance.now() - refusedSince < 400) {
    const turn = performance.now() % 200 < 100 ? one : two;
    const counted = await chargeAtOnce(turn.limiter, key, 25);
    admitted += counted.admitted;
    if (counted.admitted > 0) refusedSince = 0;
    else refusedSince ||= performance.now();
    await new Promise((resolve) => setImmediate(resolve));
  }
  t.equal(admitted, 7000);
});

t.test("points end with their window, even where they are not used up", async (t) => {
  let nowMs = 10_000_000;
  const { limiter, stop } = await startLimiter({ url: server.url, clock: () => nowMs });
  t.teardown(stop);
  const key = newKey(10_000);
  const first = await fillLease();
  t.ok(limiter.keysWithLease() === 1, "holds points");
  nowMs += 59_990;
  t.equal(await usedOf(key), first.taken);
  // The window ends at 60 000 ms; one millisecond of Redis's rounding is given up.
  nowMs += 9;
  const charged = limiter.charge({ ...key, costs: [1] });
  t.ok(charged instanceof Promise, "does not use them any more");
  await charged;
  nowMs += 1;
  t.match(
    await limiter.charge({ ...key, costs: [1] }),
    { admitted: [true], resetMs: 59_999 },
    "a new window",
  );
  t.ok((await usedOf(key)) < 10, "counted from zero");

  async function fillLease() {
    for (let turn = 0; turn < 20; turn += 1) {
      await limiter.charge({ ...key, costs: [1, 1, 1, 1, 1] });
      nowMs += 1;
    }
    // The last answers are in when nothing is asked any more.
    await waitFor("points in advance", async () => (await usedOf(key)) > 100);
    nowMs -= 20;
    return { taken: await usedOf(key) };
  }
});

t.test("a return counts once, in its window, under its number only", async (t) => {
  let nowMs = 20_000_000;
  const store = createBudgetStore({
    redis,
    processId: "p1",
    windowMs: 60_000,
    redisClock: "caller",
    now: () => nowMs,
  });
  const key = { keyId: "returns", team: "back" };
  const request = { ...key, limit: 10_000, teamCap: 8000, wanted: 500, runs: [{ cost: 1, count: 10 }] };
  const taken = await store.take({ ...request, lease: 1 });
  t.match(taken, { leased: 500, fits: [10], key: { left: 9490 }, team: { left: 7490 } });
  const back = { ...key, points: 400, keyWindow: taken.key.id, teamWindow: taken.team?.id ?? "" };

  t.equal(await store.giveBack({ ...back, lease: 2 }), 0, "another number");
  t.equal(await store.giveBack({ ...back, lease: 1, keyWindow: "1" }), 0, "another window");
  t.equal(await store.giveBack({ ...back, lease: 1 }), 400);
  t.equal(await store.giveBack({ ...back, lease: 1 }), 0, "a second time");
  t.strictSame(await redis.hmget("{team:back}:budget:returns", "u", "n"), ["110", "110"]);
  t.strictSame(await redis.hmget("{team:back}:cap", "u", "n"), ["110", "110"]);

  const second = await store.take({ ...request, lease: 3 });
  nowMs += 60_000;
  const late = { ...back, lease: 3, keyWindow: second.key.id };
  t.equal(await store.giveBack(late), 0, "after the window's end");
  const third = await store.take({ ...request, wanted: 0, lease: 4 });
  t.equal(third.key.left, 9990);
  t.equal(await store.giveBack(late), 0, "in the next window");
  t.equal(await usedOf(key), 10);
});

t.test("a lease is asked from what is left, shared by the processes that lease", async (t) => {
  const stores = ["a", "b", "c"].map((processId) =>
    createBudgetStore({ redis, processId, windowMs: 60_000, redisClock: "redis", now: Date.now }),
  );
  const request = { keyId: "shares", team: "partner", limit: 12_000, teamCap: 0, wanted: 1e6 };
  const leased: number[] = [];
  for (const [place, store] of stores.entries()) {
    const runs = place === 0 ? [{ cost: 1, count: 1 }] : [];
    leased.push((await store.take({ ...request, runs, lease: place + 1 })).leased);
  }
  const [first = 0, second = 0, third = 0] = leased;
  t.strictSame(leased, [
    Math.ceil(11_999 / 4),
    Math.ceil((11_999 - first) / 8),
    Math.ceil((11_999 - first - second) / 12),
  ]);
  t.equal(await usedOf(request), 1 + first + second + third, "all of it was taken from the counter");
});

t.test("asking in advance does not begin a window", async (t) => {
  const store = createBudgetStore({
    redis,
    processId: "p",
    windowMs: 60_000,
    redisClock: "redis",
    now: Date.now,
  });
  const key = { keyId: "early", team: "partner" };
  const taken = await store.take({ ...key, limit: 10_000, teamCap: 0, wanted: 10, runs: [], lease: 1 });
  t.match(taken, { leased: 0, key: { id: "", endsInMs: 60_000, left: 10_000 } });
  t.equal(await redis.exists("{team:partner}:budget:early"), 0);
});

t.test("a process that stops gives back what it holds", async (t) => {
  const { limiter, stop } = await startLimiter({ url: server.url });
  const key = newKey();
  let admitted = 0;
  for (let turn = 0; turn < 20; turn += 1) {
    admitted += (await limiter.charge({ ...key, costs: [1, 1, 1] })).admitted.length;
    await new Promise((resolve) => setImmediate(resolve));
  }
  await waitFor("points in advance", async () => (await usedOf(key)) > admitted);
  await stop();
  t.equal(await usedOf(key), admitted);
});
