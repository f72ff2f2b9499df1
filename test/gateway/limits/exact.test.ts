import t from "tap";
import { connectAdmin } from "../../helpers/redis.ts";
import { startProcesses } from "./support/processes.ts";
import { startRedisServer } from "./support/redis-server.ts";
import { chargeAtOnce, count, startLimiter } from "./support/start-limiter.ts";

const server = await startRedisServer(t);

let keys = 0;
function newKey(limitPerMinute = 100) {
  keys += 1;
  return { keyId: `key-${keys}`, team: "partner", limitPerMinute };
}

t.test("500 calls at once on a limit of 100 admit exactly 100", async (t) => {
  const { limiter, stop } = await startLimiter({ url: server.url });
  t.teardown(stop);
  t.strictSame(await chargeAtOnce(limiter, newKey(), 500), { admitted: 100, refused: 400, degraded: 0 });
  t.equal(limiter.stats().commands.take, 1, "calls of one turn of the event loop are one command");
});

t.test("calls are admitted in the order in which they came", async (t) => {
  const { limiter, stop } = await startLimiter({ url: server.url });
  t.teardown(stop);
  const key = newKey(10);
  const results = await Promise.all(Array.from({ length: 15 }, () => limiter.charge({ ...key, costs: [1] })));
  t.strictSame(
    results.map(({ admitted }) => admitted[0]),
    Array.from({ length: 15 }, (_, place) => place < 10),
  );
});

t.test("a batch is charged call by call, and the rest of it refused", async (t) => {
  const { limiter, stop } = await startLimiter({ url: server.url });
  t.teardown(stop);
  const key = newKey(5);
  const first = await limiter.charge({ ...key, costs: [1, 1, 1] });
  t.match(first, {
    admitted: [true, true, true],
    limit: 5,
    remaining: 2,
    retryAfterMs: 0,
    windowSeconds: 60,
  });
  const second = await limiter.charge({ ...key, costs: [1, 1, 1, 1] });
  t.strictSame(second.admitted, [true, true, false, false]);
  t.equal(second.remaining, 0);
  t.ok(second.retryAfterMs > 58_000 && second.retryAfterMs <= 60_000, "until the window ends");
  t.equal(second.resetMs, second.retryAfterMs, "both headers name one moment");
});

t.test("a call that does not fit takes nothing, a cheaper one after it still fits", async (t) => {
  const { limiter, stop } = await startLimiter({ url: server.url });
  t.teardown(stop);
  const key = newKey(10);
  const result = await limiter.charge({ ...key, costs: [4, 5, 5, 1, 1, 4] });
  t.strictSame(result.admitted, [true, true, false, true, false, false]);
  t.equal(result.remaining, 0);
});

t.test(
  "a team's cap holds over all its keys, and is not touched by what a key's own limit refuses",
  async (t) => {
    const { limiter, redis, stop } = await startLimiter({ url: server.url });
    t.teardown(stop);
    const capped = { team: "capped", teamCapPerMinute: 150 };
    const one = await chargeAtOnce(limiter, { ...newKey(), ...capped }, 120);
    const two = await chargeAtOnce(limiter, { ...newKey(), ...capped }, 120);
    t.strictSame([one.admitted, two.admitted], [100, 50]);
    t.equal(await redis.hget("{team:capped}:cap", "u"), "150");
    const third = await limiter.charge({ ...newKey(), ...capped, costs: [1] });
    t.match(third, { admitted: [false], limit: 100, remaining: 0 });
    t.ok(third.retryAfterMs > 55_000, "told to wait for the team's window");
  },
);

t.test("a refused call neither extends the window nor counts", async (t) => {
  let nowMs = 1_000_000;
  const { limiter, stop } = await startLimiter({ url: server.url, clock: () => nowMs });
  t.teardown(stop);
  const key = newKey();
  t.equal((await chargeAtOnce(limiter, key, 100)).admitted, 100);
  for (const afterMs of [1, 30_000, 29_998]) {
    nowMs += afterMs;
    t.equal((await chargeAtOnce(limiter, key, 50)).admitted, 0, `at ${nowMs - 1_000_000} ms`);
  }
  nowMs += 1;
  t.strictSame(
    await chargeAtOnce(limiter, key, 150),
    { admitted: 100, refused: 50, degraded: 0 },
    "at 60 000 ms the next window begins",
  );
});

t.test("refusals that cannot change before the window ends are not asked again", async (t) => {
  const { limiter, stop } = await startLimiter({ url: server.url });
  t.teardown(stop);
  const key = newKey();
  await chargeAtOnce(limiter, key, 101);
  const asked = limiter.stats().commands.take;
  const again = limiter.charge({ ...key, costs: [1] });
  t.notOk(again instanceof Promise, "answered at once");
  t.strictSame((await again).admitted, [false]);
  t.equal(limiter.stats().commands.take, asked);
  t.strictSame(
    (await limiter.charge({ ...key, limitPerMinute: 103, costs: [1, 1, 1, 1] })).admitted,
    [true, true, true, false],
    "a higher limit counts at once",
  );
});

t.test("50 windows over three processes: exactly the limit in each", async (t) => {
  const processes = await startProcesses(3, { url: server.url, injectedClock: true });
  t.teardown(() => Promise.all(processes.map((one) => one.stop())));
  const key = newKey();
  const shares = [
    [167, 167, 166],
    [500, 0, 0],
    [0, 40, 460],
    [40, 40, 40],
  ];
  let nowMs = 5_000_000;
  for (let window = 0; window < 50; window += 1) {
    const share = shares[window % shares.length] ?? [];
    const counted = await Promise.all(
      processes.map((one, place) => one.atOnce(key, share[place] ?? 0, nowMs)),
    );
    const admitted = counted.reduce((sum, one) => sum + one.admitted, 0);
    if (admitted !== 100) t.fail(`window ${window} admitted ${admitted}`);
    // The last call of this window and the first of the next are one millisecond apart.
    nowMs += 59_999;
    const late = await Promise.all(processes.map((one) => one.atOnce(key, 5, nowMs)));
    if (late.some(({ admitted }) => admitted > 0)) t.fail(`window ${window} admitted a late call`);
    nowMs += 1 + window;
  }
  t.pass("100 in each of 50 windows");
});

t.test("waves over a window's end by Redis's own clock: what was admitted is what was taken", async (t) => {
  const windowMs = 300;
  const processes = await startProcesses(3, {
    url: server.url,
    windowMs,
    wallSkewsMs: [0, 600_000, -600_000],
  });
  t.teardown(() => Promise.all(processes.map((one) => one.stop())));
  const redis = await connectAdmin(t, server.url);
  const key = newKey();
  const windows = new Map<string, { used: number; waves: number }>();
  let admitted = 0;
  let taken: number | undefined;
  for (let wave = 0; wave < 60; wave += 1) {
    const counted = await Promise.all(processes.map((one) => one.atOnce(key, 40)));
    admitted += counted.reduce((sum, one) => sum + one.admitted, 0);
    const budget = `{team:${key.team}}:budget:${key.keyId}`;
    const [id = "", used, today] = await redis.hmget(budget, "w", "u", "n");
    windows.set(id ?? "", { used: Number(used), waves: (windows.get(id ?? "")?.waves ?? 0) + 1 });
    taken = Number(today);
    // Sixty waves last longer than three windows.
    await new Promise((resolve) => setTimeout(resolve, 15));
  }
  t.equal(admitted, taken, "every point taken admitted one call, with clocks of processes ten minutes apart");
  const seen = [...windows.values()];
  t.ok(seen.length >= 3, `${seen.length} windows`);
  t.ok(
    seen.every(({ used }) => used <= 100),
    "never above the limit",
  );
  // Of two waves of 120, the second found the window as it stayed.
  const full = seen.filter(({ waves }) => waves > 2);
  t.ok(full.length > 0 && full.every(({ used }) => used === 100), "and all of it was given out");
});

t.test("a window does not last longer where Redis's clock is set back", async (t) => {
  let nowMs = 100_000_000;
  const { limiter, stop } = await startLimiter({ url: server.url, clock: () => nowMs });
  t.teardown(stop);
  const key = newKey();
  await chargeAtOnce(limiter, key, 100);
  // Another process, since this one remembers the refusal; its clock is Redis's, an hour back.
  nowMs -= 3_600_000;
  const other = await startLimiter({ url: server.url, clock: () => nowMs });
  t.teardown(other.stop);
  t.equal((await chargeAtOnce(other.limiter, key, 10)).admitted, 0, "the same window");
  nowMs += 60_000;
  t.equal((await chargeAtOnce(other.limiter, key, 10)).admitted, 10, "ended a window's length later");
});

t.test("a flood of more calls than may wait is refused beyond that, at once", async (t) => {
  const { limiter, stop } = await startLimiter({ url: server.url });
  t.teardown(stop);
  const key = newKey(6000);
  const costs = Array.from({ length: 100 }, () => 1);
  const results = Array.from({ length: 501 }, () => limiter.charge({ ...key, costs }));
  t.notOk(results.at(-1) instanceof Promise);
  t.match(await results.at(-1), { degraded: false, retryAfterMs: 1000 });
  t.strictSame(count(await Promise.all(results)), { admitted: 6000, refused: 44_100, degraded: 0 });
});
