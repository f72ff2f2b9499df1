import fc from "fast-check";
import t from "tap";
import { startRedisServer } from "./support/redis-server.ts";
import { startLimiter } from "./support/start-limiter.ts";
import "../../helpers/property-seed.ts";

const server = await startRedisServer(t);

/** The rule in its plainest form: one key, one team's cap, a call after the other, fixed windows. */
function createModel(limit: number, cap: number) {
  const windows = { key: { endsMs: 0, used: 0 }, team: { endsMs: 0, used: 0 } };
  return (cost: number, nowMs: number): boolean => {
    for (const window of [windows.key, windows.team]) if (nowMs >= window.endsMs) window.used = 0;
    if (windows.key.used + cost > limit || windows.team.used + cost > cap) return false;
    for (const window of [windows.key, windows.team]) {
      if (nowMs >= window.endsMs) window.endsMs = nowMs + 60_000;
      window.used += cost;
    }
    return true;
  };
}

t.test("bodies of any costs, alone or together, are decided as if their calls came one by one", async (t) => {
  let runs = 0;
  let nowMs = 1_000_000_000;
  const one = await startLimiter({ url: server.url, clock: () => nowMs });
  const two = await startLimiter({ url: server.url, clock: () => nowMs });
  t.teardown(() => Promise.all([one.stop(), two.stop()]));
  const body = fc.array(fc.integer({ min: 1, max: 12 }), { minLength: 1, maxLength: 12 });
  const turn = fc.record({
    bodies: fc.array(body, { minLength: 1, maxLength: 4 }),
    second: fc.boolean(),
    passMs: fc.constantFrom(0, 1, 20, 25_000, 59_999, 60_000),
  });
  await fc.assert(
    fc.asyncProperty(
      fc.integer({ min: 1, max: 60 }),
      fc.integer({ min: 1, max: 60 }),
      fc.array(turn, { maxLength: 12 }),
      async (limitPerMinute, teamCapPerMinute, turns) => {
        runs += 1;
        const key = { keyId: `key-${runs}`, team: `team-${runs}`, limitPerMinute, teamCapPerMinute };
        const decide = createModel(limitPerMinute, teamCapPerMinute);
        for (const { bodies, second, passMs } of turns) {
          nowMs += passMs;
          const expected = bodies.map((costs) => costs.map((cost) => decide(cost, nowMs)));
          const { limiter } = second ? two : one;
          const results = await Promise.all(bodies.map((costs) => limiter.charge({ ...key, costs })));
          const admitted = results.map((result) => result.admitted);
          if (JSON.stringify(admitted) !== JSON.stringify(expected)) {
            throw new Error(`${JSON.stringify(admitted)} instead of ${JSON.stringify(expected)}`);
          }
        }
      },
    ),
    { numRuns: 60 },
  );
  t.ok(runs >= 60);
});
