import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { performance } from "node:perf_hooks";
import { fileURLToPath } from "node:url";
import { z } from "zod";
import { createLimiter, type Limiter } from "../../gateway/limits/limiter.ts";
import { createRedisClient, waitForRedis } from "../../lib/redis/redis-client.ts";
import { startOwnRedis } from "../processes/own-redis.ts";

/*
 * What limits cost and whether they hold, over three gateway processes and a Redis of its own:
 *
 *   npm run bench -- leases
 *
 * For each limit first calls at the limit's own pace for two seconds: Redis commands for 1 000 calls, and how many
 * calls did not wait. Then, on a second key, calls as fast as they go until nothing is left: admitted against limit.
 * Ends with an error where a limit did not hold. Takes about 20 seconds.
 */

const processes = 3;
const limits = [100, 6000, 60_000, 600_000];
const paceForMs = 2000;
const floodMaxMs = 8000;
/** Points that another process held come back after 100 ms. A flood is over when none is left for longer than that. */
const nothingLeftMs = 400;
const silent = { info: () => {}, warn: () => {} };

const order = z.object({
  run: z.enum(["pace", "flood", "stop"]),
  keyId: z.string().default(""),
  limitPerMinute: z.number().default(0),
});
type Order = z.input<typeof order>;

const outcome = z.object({ calls: z.number(), admitted: z.number(), waited: z.number() });
type Outcome = z.infer<typeof outcome>;

const workerUrl = process.argv[2] === "worker" ? process.argv[3] : undefined;
if (workerUrl === undefined) await runBench();
else await runWorker(workerUrl);

async function runBench(): Promise<void> {
  const stops: (() => unknown)[] = [];
  const { url } = await startOwnRedis({ teardown: (stop) => stops.unshift(stop) }, { keepsNothing: true });
  const redis = createRedisClient({ url, name: "bench", logger: silent });
  await waitForRedis({ redis, logger: silent });
  const workers = await Promise.all(Array.from({ length: processes }, () => startWorker(url)));
  try {
    console.log(`${processes} processes, windows of 60 s by Redis's clock\n`);
    console.log(
      "limit/min  calls at its pace  commands/1000  did not wait  |  flood: calls   admitted  of limit",
    );
    for (const limitPerMinute of limits) {
      const before = await countScripts(redis);
      const pace = await run(workers, { run: "pace", keyId: `pace-${limitPerMinute}`, limitPerMinute });
      const commands = (await countScripts(redis)) - before;
      const flood = await run(workers, { run: "flood", keyId: `flood-${limitPerMinute}`, limitPerMinute });
      const used = Number(await redis.hget(`{team:bench}:budget:flood-${limitPerMinute}`, "u"));
      const columns = [
        pad(limitPerMinute, 9),
        pad(pace.calls, 19),
        pad(((commands * 1000) / pace.calls).toFixed(1), 15),
        pad(`${((1 - pace.waited / pace.calls) * 100).toFixed(1)} %`, 14),
        pad(flood.calls, 18),
        pad(flood.admitted, 11),
        pad(`${((flood.admitted / limitPerMinute) * 100).toFixed(3)} %`, 10),
      ];
      console.log(columns.join(""));
      if (flood.admitted > limitPerMinute || used > limitPerMinute || pace.admitted > limitPerMinute) {
        throw new Error(`a limit of ${limitPerMinute} admitted ${Math.max(flood.admitted, pace.admitted)}`);
      }
      if (flood.admitted < limitPerMinute) console.log(`  ${limitPerMinute - flood.admitted} points unused`);
    }
  } finally {
    for (const worker of workers) worker.send({ run: "stop" } satisfies Order);
    await Promise.all(workers.map((worker) => once(worker, "exit")));
    redis.disconnect();
    for (const stop of stops) await stop();
  }
}

async function runWorker(url: string): Promise<void> {
  const redis = createRedisClient({ url, name: "bench worker", logger: silent });
  await waitForRedis({ redis, logger: silent });
  const limiter = createLimiter({ redis, logger: silent });
  process.on("message", async (message) => {
    const { run, keyId, limitPerMinute } = order.parse(message);
    if (run === "stop") {
      await limiter.stop();
      redis.disconnect();
      process.disconnect();
      return;
    }
    const key = { keyId, team: "bench", limitPerMinute };
    process.send?.(await (run === "pace" ? keepPace(limiter, key) : flood(limiter, key)));
  });
  process.send?.("ready");
}

type Key = { keyId: string; team: string; limitPerMinute: number };

/** Calls at this process's share of the limit's rate, in turns of about five milliseconds. */
async function keepPace(limiter: Limiter, key: Key): Promise<Outcome> {
  const callsPerMs = key.limitPerMinute / 60_000 / processes;
  const results: Outcome[] = [];
  const pending: Promise<unknown>[] = [];
  const startMs = performance.now();
  let calls = 0;
  for (let passedMs = 0; passedMs < paceForMs; passedMs = performance.now() - startMs) {
    for (; calls < passedMs * callsPerMs; calls += 1) {
      pending.push(chargeOnce(limiter, key).then((one) => results.push(one)));
    }
    await pause(5);
  }
  await Promise.all(pending);
  return sum(results);
}

/** Calls in turns of up to 500 until no point has been left for a while. */
async function flood(limiter: Limiter, key: Key): Promise<Outcome> {
  const total: Outcome = { calls: 0, admitted: 0, waited: 0 };
  const endMs = performance.now() + floodMaxMs;
  const perTurn = Math.min(500, Math.ceil(key.limitPerMinute / 10));
  let lastAdmittedMs = performance.now();
  while (performance.now() < endMs && performance.now() - lastAdmittedMs < nothingLeftMs) {
    const turn = sum(await Promise.all(Array.from({ length: perTurn }, () => chargeOnce(limiter, key))));
    total.calls += turn.calls;
    total.admitted += turn.admitted;
    total.waited += turn.waited;
    if (turn.admitted > 0) lastAdmittedMs = performance.now();
    await pause(turn.admitted > 0 ? 0 : 10);
  }
  return total;
}

async function chargeOnce(limiter: Limiter, key: Key): Promise<Outcome> {
  const charged = limiter.charge({ ...key, costs: [1] });
  const { admitted, degraded } = await charged;
  if (degraded) throw new Error("Redis did not answer: the figures would mean nothing");
  return { calls: 1, admitted: admitted[0] === true ? 1 : 0, waited: charged instanceof Promise ? 1 : 0 };
}

async function run(workers: readonly ChildProcess[], what: Order): Promise<Outcome> {
  const outcomes = workers.map(async (worker) => {
    const answer = once(worker, "message");
    worker.send(what);
    return outcome.parse((await answer)[0]);
  });
  return sum(await Promise.all(outcomes));
}

function sum(outcomes: readonly Outcome[]): Outcome {
  const total: Outcome = { calls: 0, admitted: 0, waited: 0 };
  for (const { calls, admitted, waited } of outcomes) {
    total.calls += calls;
    total.admitted += admitted;
    total.waited += waited;
  }
  return total;
}

async function startWorker(url: string): Promise<ChildProcess> {
  const worker = fork(fileURLToPath(import.meta.url), ["worker", url], {
    execArgv: ["--disable-warning=ExperimentalWarning"],
  });
  await once(worker, "message");
  return worker;
}

/** How many scripts Redis has run, by its own count. */
async function countScripts(redis: { info(section: string): Promise<string> }): Promise<number> {
  const statistics = await redis.info("commandstats");
  const counts = [...statistics.matchAll(/^cmdstat_eval(?:sha)?:calls=(\d+)/gm)];
  return counts.reduce((total, [, calls]) => total + Number(calls), 0);
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => (ms === 0 ? setImmediate(resolve) : setTimeout(resolve, ms)));
}

function pad(value: number | string, width: number): string {
  return String(value).padStart(width);
}
