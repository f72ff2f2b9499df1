import t from "tap";
import { createRequestLimiter } from "../../../api/limits/request-limiter.ts";
import { apiRequestsKey } from "../../../lib/redis/keys/api.ts";
import { createRedisClient } from "../../../lib/redis/redis-client.ts";
import { startRedis } from "../../helpers/redis.ts";
import { waitFor } from "../../helpers/wait-for.ts";

const server = await startRedis(t);
const silent = { info() {}, warn() {}, error() {} };
const redis = createRedisClient({ name: "test", url: server.url, commandTimeoutMs: 1000, logger: silent });
t.teardown(() => redis.disconnect());
await waitFor("Redis answers", () => redis.status === "ready");

const windowSeconds = 60;
function startLimiter(points: number) {
  const clock = { ms: 1000 };
  const limiter = createRequestLimiter({
    redis,
    points: () => points,
    windowSeconds,
    monotonicMs: () => clock.ms,
  });
  return { limiter, clock };
}
const usedBy = async (client: string) => Number(await redis.get(apiRequestsKey(client)));

t.test("a request that costs more than is left takes nothing of it", async (t) => {
  const { limiter } = startLimiter(12);
  t.match((await limiter.charge("dear", 10)).standing, { allowed: true, remaining: 2 });
  t.match((await limiter.charge("dear", 10)).standing, { allowed: false, remaining: 2 });
  t.match((await limiter.charge("dear", 1)).standing, { allowed: true, remaining: 1 });
  t.match((await limiter.charge("dear", 1)).standing, { allowed: true, remaining: 0 });
  t.match((await limiter.charge("dear", 1)).standing, { allowed: false, remaining: 0 });
});

t.test("a refused call neither extends the window nor is one that Redis hears of", async (t) => {
  const { limiter, clock } = startLimiter(1);
  await limiter.charge("refused", 1);
  const first = await limiter.charge("refused", 1);
  t.equal(first.standing.allowed, false);
  const leftMs = await redis.pttl(apiRequestsKey("refused"));
  clock.ms += 5000;
  const later = await limiter.charge("refused", 1);
  t.equal(later.standing.resetMs, first.standing.resetMs - 5000);
  t.ok((await redis.pttl(apiRequestsKey("refused"))) <= leftMs);
  // The window has ended for Redis and for this process.
  await redis.del(apiRequestsKey("refused"));
  clock.ms += windowSeconds * 1000;
  t.match((await limiter.charge("refused", 1)).standing, { allowed: true });
});

t.test("what is given back can be used again, also by a client that was at its limit", async (t) => {
  const { limiter } = startLimiter(1);
  const charged = await limiter.charge("back", 1);
  t.equal((await limiter.charge("back", 1)).standing.allowed, false);
  charged.refund();
  await waitFor("it was given back", async () => (await usedBy("back")) === 0);
  t.equal((await limiter.charge("back", 1)).standing.allowed, true);
});

t.test("what is given back late adds nothing to the window that came after", async (t) => {
  const { limiter, clock } = startLimiter(5);
  const early = await limiter.charge("late", 1);
  await redis.del(apiRequestsKey("late"));
  // A window that has begun meanwhile ends later than the one in which the point was taken.
  clock.ms += 2000;
  await limiter.charge("late", 2);
  early.refund();
  const gone = await limiter.charge("gone", 1);
  await redis.del(apiRequestsKey("gone"));
  gone.refund();
  await limiter.charge("late", 1);
  t.equal(await usedBy("late"), 3);
  t.equal(await redis.exists(apiRequestsKey("gone")), 0);
});

t.test("two processes at once give out exactly the limit, whatever requests cost", async (t) => {
  const limiters = [startLimiter(100).limiter, startLimiter(100).limiter];
  const costs = Array.from({ length: 120 }, (_, index) => [1, 3, 10][index % 3] ?? 1);
  const charged = await Promise.all(
    costs.map(async (cost, index) => {
      const { standing } = (await limiters[index % 2]?.charge("both", cost)) ?? {};
      return standing?.allowed ? cost : 0;
    }),
  );
  const given = charged.reduce((sum, cost) => sum + cost, 0);
  t.equal(given, await usedBy("both"));
  t.equal(given, 100, "single points fill it up to the last");
});

t.test("while Redis is away a client has a tenth, of this process, and its return is noticed", async (t) => {
  const away = await startRedis(t);
  const client = createRedisClient({ name: "test", url: away.url, commandTimeoutMs: 200, logger: silent });
  t.teardown(() => client.disconnect());
  await waitFor("Redis answers", () => client.status === "ready");
  const clock = { ms: 0 };
  const limiter = createRequestLimiter({
    redis: client,
    points: () => 30,
    windowSeconds,
    monotonicMs: () => clock.ms,
  });
  t.equal((await limiter.charge("one", 1)).standing.limit, 30);
  t.equal(limiter.problem(), undefined);
  away.freeze();
  t.match((await limiter.charge("one", 1)).standing, { allowed: true, limit: 3, remaining: 2 });
  t.match(limiter.problem(), /Redis/);
  const dear = await limiter.charge("one", 10);
  t.equal(dear.standing.allowed, false);
  t.match(
    (await limiter.charge("other", 10)).standing,
    { allowed: true, remaining: 0 },
    "dear ones stay possible",
  );
  away.thaw();
  await waitFor("limits are shared again", async () => {
    const { standing } = await limiter.charge("third", 1);
    return standing.limit === 30;
  });
  clock.ms += windowSeconds * 1000;
  t.equal(limiter.problem(), undefined);
});

t.test("what a client asks in one turn is charged by one command, each request by itself", async (t) => {
  const commands = async () =>
    Number(/cmdstat_evalsha:calls=(\d+)/.exec(await redis.info("commandstats"))?.[1] ?? 0);
  const { limiter } = startLimiter(300);
  await limiter.charge("warm", 1);
  const before = await commands();
  const costs = Array.from({ length: 400 }, (_, index) => (index === 10 ? 250 : 1));
  const standings = await Promise.all(
    costs.map(async (cost) => (await limiter.charge("many", cost)).standing),
  );
  t.equal((await commands()) - before, 2, "256 at most a command");
  t.strictSame(
    standings.map(({ allowed }) => allowed),
    costs.map((_, index) => index < 51),
    "ten, the dear one, and what is left after it",
  );
  t.match(standings[10], { remaining: 40 });
  t.equal(await usedBy("many"), 300);
});

t.test("a Redis that answers nonsense or fails refuses all that was asked in the turn alike", async (t) => {
  const { limiter } = startLimiter(1000);
  await redis.set(apiRequestsKey("odd"), "no number");
  const outcomes = await Promise.allSettled([limiter.charge("odd", 1), limiter.charge("odd", 1)]);
  t.equal(new Set(outcomes.map(({ status }) => status)).size, 1);
});
