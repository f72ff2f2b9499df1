import t from "tap";
import { readUsage } from "../../../gateway/limits/usage.ts";
import { startRedisServer } from "./support/redis-server.ts";
import { chargeAtOnce, startLimiter } from "./support/start-limiter.ts";

const server = await startRedisServer(t);

t.test("use in the window and on this day, of a key and of a team with a cap", async (t) => {
  const { limiter, redis, stop } = await startLimiter({ url: server.url });
  t.teardown(stop);
  const key = { keyId: "one", team: "partner", limitPerMinute: 20, teamCapPerMinute: 50 };
  t.strictSame(await readUsage({ redis, ...key }), {
    key: { window: undefined, today: 0 },
    team: { window: undefined, today: 0 },
  });
  await chargeAtOnce(limiter, key, 30);
  await chargeAtOnce(limiter, { ...key, keyId: "two" }, 7);
  const usage = await readUsage({ redis, ...key });
  t.match(usage, { key: { window: { used: 20 }, today: 20 }, team: { window: { used: 27 }, today: 27 } });
  const endsInMs = usage.key.window?.endsInMs ?? 0;
  t.ok(endsInMs > 55_000 && endsInMs <= 60_000, `${endsInMs} ms`);
});

t.test("a window that is over and a day that is over count no more; a day goes over windows", async (t) => {
  const dayMs = 86_400_000;
  // The clock of the charges is set so that the real day is the one after.
  const today = Math.floor(Date.now() / dayMs) * dayMs;
  let nowMs = today - 10_000;
  const { limiter, redis, stop } = await startLimiter({ url: server.url, clock: () => nowMs });
  t.teardown(stop);
  const key = { keyId: "days", team: "partner", limitPerMinute: 20 };
  await chargeAtOnce(limiter, key, 5);
  t.strictSame((await readUsage({ redis, ...key })).key, { window: undefined, today: 0 });
  nowMs = today;
  await chargeAtOnce(limiter, key, 3);
  nowMs += 55_000;
  await chargeAtOnce(limiter, key, 4);
  t.equal((await readUsage({ redis, ...key })).key.today, 7);
});

t.test("budgets do not stay in Redis for ever", async (t) => {
  const { limiter, redis, stop } = await startLimiter({ url: server.url });
  t.teardown(stop);
  await chargeAtOnce(limiter, { keyId: "gone", team: "old", limitPerMinute: 5, teamCapPerMinute: 5 }, 1);
  for (const name of ["{team:old}:budget:gone", "{team:old}:cap"]) {
    const keptMs = await redis.pttl(name);
    t.ok(keptMs > 1.9 * 86_400_000 && keptMs <= 2 * 86_400_000, `${name}: ${keptMs} ms`);
  }
});
