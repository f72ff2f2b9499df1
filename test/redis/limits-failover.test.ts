import { setTimeout as sleep } from "node:timers/promises";
import t, { type Test } from "tap";
import type { Limiter } from "../../gateway/limits/limiter.ts";
import { createLimiter } from "../../gateway/limits/limiter.ts";
import { hashSlot } from "../../lib/redis/hash-slot.ts";
import { teamBudgetKey } from "../../lib/redis/keys/gateway.ts";
import { waitFor } from "../helpers/wait-for.ts";
import { connectTo, failOver, moveAround, silent, startFailoverCluster } from "./failover-rig.ts";

const processesCount = 3;
/** Longer than any of these tests: all calls are of one window. */
const windowMs = 600_000;
const askAtOnce = 5;

type Key = { keyId: string; team: string; limitPerMinute: number; teamCapPerMinute?: number };

async function startLimiters(t: Test, url: string): Promise<Limiter[]> {
  return Promise.all(
    Array.from({ length: processesCount }, async () => {
      const redis = await connectTo(t, url);
      const limiter = createLimiter({ redis, logger: silent, windowMs, probeIntervalMs: 50 });
      t.teardown(() => limiter.stop());
      return limiter;
    }),
  );
}

/** Asks from all processes without a pause until told to end. Calls that Redis admitted, and those that a process admitted alone. */
function keepAsking(limiters: readonly Limiter[], key: Key) {
  const admitted = { byRedis: 0, alone: 0 };
  let isOver = false;
  const loops = limiters.map(async (limiter) => {
    while (!isOver) {
      const results = await Promise.all(
        Array.from({ length: askAtOnce }, () => limiter.charge({ ...key, costs: [1] })),
      );
      for (const {
        admitted: [one],
        degraded,
      } of results) {
        if (one === true) admitted[degraded ? "alone" : "byRedis"] += 1;
      }
      await sleep(5);
    }
  });
  return {
    admitted,
    async end() {
      isOver = true;
      await Promise.all(loops);
      return admitted;
    },
  };
}

/** Asks until Redis has no point left. */
async function askForTheRest(limiters: readonly Limiter[], key: Key): Promise<number> {
  const [limiter] = limiters;
  if (limiter === undefined) throw new Error("there are limiters");
  let admitted = 0;
  for (;;) {
    await waitFor("Redis answers", () => limiter.state().answers);
    const results = await Promise.all(
      Array.from({ length: 100 }, () => limiter.charge({ ...key, costs: [1] })),
    );
    const byRedis = results.filter(({ degraded }) => !degraded);
    admitted += byRedis.filter(({ admitted: [one] }) => one).length;
    if (byRedis.some(({ admitted: [one] }) => one === false)) return admitted;
  }
}

t.test(
  "a slot moves around under load: exactly the limit is admitted, and no process counts alone",
  async (t) => {
    const cluster = await startFailoverCluster(t);
    const limiters = await startLimiters(t, cluster.url);
    for (const key of [
      { keyId: "k_exact", team: "moved", limitPerMinute: 3000 },
      { keyId: "k_capped", team: "capped", limitPerMinute: 3000, teamCapPerMinute: 2500 },
      { keyId: "k_leased", team: "leased", limitPerMinute: 20_000 },
    ]) {
      // The key and its team's cap are there before their slot moves: see gateway/limits/budget-store.ts.
      const [first] = limiters;
      t.match(await first?.charge({ ...key, costs: [1] }), { admitted: [true], degraded: false });
      const asking = keepAsking(limiters, key);
      await moveAround(cluster, teamBudgetKey(key.team), 4);
      const { byRedis, alone } = await asking.end();
      t.equal(alone, 0, `${key.keyId}: Redis was asked for every call`);
      t.ok(byRedis > 0);
      for (const limiter of limiters) await limiter.stop();
      const limit = key.teamCapPerMinute ?? key.limitPerMinute;
      t.ok(1 + byRedis <= limit, `${1 + byRedis} of ${limit}`);
      if (key.keyId === "k_exact") {
        const rest = await askForTheRest(limiters, key);
        t.equal(1 + byRedis + rest, limit, "every point once");
      }
    }
  },
);

t.test(
  "a master is killed and its replica takes over: no point is given twice; other nodes' keys notice nothing",
  async (t) => {
    const cluster = await startFailoverCluster(t);
    const limiters = await startLimiters(t, cluster.url);
    const key = { keyId: "k_1", team: "killed", limitPerMinute: 5000 };
    const victim = await cluster.ownerOf(hashSlot(teamBudgetKey(key.team)));
    const spared = await otherTeam(cluster, victim);
    const other = { keyId: "k_2", team: spared, limitPerMinute: 5000 };
    const asking = keepAsking(limiters, key);
    const asking2 = keepAsking(limiters, other);
    await waitFor("some are admitted", () => asking.admitted.byRedis > 200);
    await failOver(cluster, teamBudgetKey(key.team));
    const before = asking.admitted.byRedis;
    await waitFor("Redis is asked again", () => asking.admitted.byRedis > before + 20);
    const { byRedis, alone } = await asking.end();
    t.ok(alone <= (processesCount * key.limitPerMinute) / 10, `${alone} by processes alone`);
    const rest = await askForTheRest(limiters, key);
    t.ok(byRedis + rest <= key.limitPerMinute, `${byRedis + rest} of ${key.limitPerMinute}`);
    // What a process had asked for when its node died was taken and not given out.
    t.ok(
      byRedis + rest >= key.limitPerMinute - processesCount * askAtOnce,
      `${byRedis + rest} of ${key.limitPerMinute}`,
    );
    t.equal((await asking2.end()).alone, 0, "keys of other nodes were never counted alone");
  },
);

t.test(
  "a master is killed and nobody takes over: its keys have a tenth, until it is back with all that it counted",
  async (t) => {
    const cluster = await startFailoverCluster(t);
    const limiters = await startLimiters(t, cluster.url);
    const key = { keyId: "k_1", team: "killed", limitPerMinute: 600 };
    const master = await cluster.ownerOf(hashSlot(teamBudgetKey(key.team)));
    for (const replica of await cluster.replicasOf(master)) await replica.process.kill();
    const asking = keepAsking(limiters, key);
    await waitFor("some are admitted", () => asking.admitted.byRedis > 100);
    await master.process.kill();
    await waitFor("each process counts alone", () => asking.admitted.alone > 0);
    await master.process.restart();
    const before = asking.admitted.byRedis;
    await waitFor("Redis is asked again", () => asking.admitted.byRedis > before);
    const { byRedis, alone } = await asking.end();
    const rest = await askForTheRest(limiters, key);
    t.ok(byRedis + rest <= key.limitPerMinute, `${byRedis + rest} of ${key.limitPerMinute}`);
    t.ok(alone <= (processesCount * key.limitPerMinute) / 10, `${alone} by processes alone`);
  },
);

/** A team whose budgets another node has. */
async function otherTeam(
  cluster: Awaited<ReturnType<typeof startFailoverCluster>>,
  victim: Awaited<ReturnType<typeof cluster.ownerOf>>,
): Promise<string> {
  for (let number = 0; ; number += 1) {
    const team = `spared-${number}`;
    if ((await cluster.ownerOf(hashSlot(teamBudgetKey(team)))) !== victim) return team;
  }
}
