import { performance } from "node:perf_hooks";
import { startValidators } from "../../../test/fakes/validators/start-validators.ts";
import { startOwnRedis } from "../../processes/own-redis.ts";
import type { Teardown } from "../../processes/teardown.ts";
import { seededRandom } from "../seeded-random.ts";
import { startGateway } from "../start-gateway.ts";
import { drawSteps, type Step } from "../steps/draw-steps.ts";
import { runSteps } from "../steps/run-steps.ts";
import { deployEmitters, readChain } from "./emitters.ts";
import { checkSegment, keepSubscribed } from "./keep-subscribed.ts";
import { checkPolled, keepPolling, makeFilter } from "./polled-filters.ts";

export type SubscriberFindings = {
  seed: number;
  faults: string[];
  restarts: number;
  connections: number;
  heads: number;
  logs: number;
  polled: number;
  /** What went wrong, in words; empty where everything held. */
  broken: string[];
};

const subscribersCount = 50;
const validatorsCount = 5;
const emitsOfOneLength = 100;
const pollsOfOneLength = 60;
const paceMs = 15;
const notificationsWithinMs = 8000;

/** The steps of a run, drawn by its seed: about 220 turns for each `length`. */
export function drawSubscribers({ seed, length }: { seed: number; length: number }): Step[] {
  return drawSteps({
    seed,
    turns: {
      emitter: emitsOfOneLength * length,
      "block filter": pollsOfOneLength * length,
      "log filter": pollsOfOneLength * length,
    },
    blockEvery: 9,
    restartEvery: 90,
    validators: validatorsCount,
    strike: { min: 8, max: 40 },
    pause: { min: 4, max: 15 },
  });
}

/**
 * Fifty subscribers of heads and logs and two polled filters use two gateways before five validators, one of which at a
 * time has a random fault. One gateway restarts now and then, and its subscribers connect again. In the end each one's
 * notifications are compared with the chain.
 */
export async function runSubscribers(
  t: Teardown,
  { seed, length = 1 }: { seed: number; length?: number },
): Promise<SubscriberFindings> {
  const findings: SubscriberFindings = {
    seed,
    faults: [],
    restarts: 0,
    connections: 0,
    heads: 0,
    logs: 0,
    polled: 0,
    broken: [],
  };
  const [redis, cluster] = await Promise.all([
    startOwnRedis(t),
    startValidators(t, { count: validatorsCount, gossipDelayMs: 2 }),
  ]);
  const emitters = await deployEmitters(cluster);
  const start = () => startGateway(t, { redisUrl: redis.url, upstreams: cluster.urls });
  const gateways = await Promise.all([start(), start()]);
  let isOver = false;
  const subscribers = Array.from({ length: subscribersCount }, (_, index) =>
    keepSubscribed({ t, gateways, index, request: emitters.request(index), isOver: () => isOver }),
  );
  const blocks = await makeFilter({ gateways, method: "eth_newBlockFilter", params: [] });
  const logs = await makeFilter({ gateways, method: "eth_newFilter", params: [emitters.request(1).filter] });

  findings.faults = await runSteps({
    steps: drawSubscribers({ seed, length }),
    paceMs,
    cluster,
    actors: {
      emitter: emitters.keepEmitting(seededRandom(seed * 1000)),
      "block filter": keepPolling(blocks, gateways),
      "log filter": keepPolling(logs, gateways),
    },
    async restart() {
      // The second gateway stops gracefully and starts again.
      await gateways[1]?.stop();
      gateways[1] = await start();
      findings.restarts += 1;
    },
  });
  isOver = true;
  await cluster.healAll();
  await cluster.mine(1);
  const chain = await readChain(cluster);

  const untilMs = performance.now() + notificationsWithinMs;
  for (const [index, segments] of (await Promise.all(subscribers)).entries()) {
    findings.connections += segments.length;
    for (const segment of segments) {
      const { heads, logs, problem } = await checkSegment({ segment, chain, untilMs });
      findings.heads += heads;
      findings.logs += logs;
      if (problem !== undefined) findings.broken.push(`subscriber ${index}: ${problem}`);
    }
  }
  findings.broken.push(
    ...(await checkPolled({ polled: blocks, expected: chain.blocks, gateways })),
    ...(await checkPolled({ polled: logs, expected: chain.logs(emitters.request(1)), gateways })),
  );
  findings.polled = blocks.results.length + logs.results.length;
  return findings;
}
