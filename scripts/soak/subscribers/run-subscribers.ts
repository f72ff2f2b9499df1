import { performance } from "node:perf_hooks";
import { setTimeout as sleep } from "node:timers/promises";
import { startValidators } from "../../../test/fakes/validators/start-validators.ts";
import { startOwnRedis } from "../../processes/own-redis.ts";
import type { Teardown } from "../../processes/teardown.ts";
import { seededRandom } from "../seeded-random.ts";
import { type SoakedGateway, startGateway } from "../start-gateway.ts";
import { drawSteps, type Step } from "../steps/draw-steps.ts";
import { type Actor, runSteps } from "../steps/run-steps.ts";
import {
  deployEmitters,
  type LogRequest,
  logKey,
  numberOf,
  readChain,
  type SeenChain,
  textOf,
} from "./emitters.ts";
import { openSubscriberSocket, type SubscriberSocket } from "./subscriber-socket.ts";

export type SubscriberFindings = {
  seed: number;
  faults: string[];
  restarts: number;
  connections: number;
  heads: number;
  logs: number;
  polled: number;
  /** What must never happen, in words; empty where all held. */
  broken: string[];
};

const subscribersCount = 50;
const validatorsCount = 5;
const emitsOfOneLength = 100;
const pollsOfOneLength = 60;
const paceMs = 15;
const notificationsWithinMs = 8000;

/** What happens in such a run, by its seed: about 220 turns for each `length`. */
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
 * Fifty subscribers of heads and logs and two polled filters over two gateways before five validators, of which one at a
 * time is struck by a random fault; one gateway is restarted now and then, and its subscribers connect again. What each
 * was told is compared with the chain afterwards.
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
      // The second one goes, in order, and comes back.
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
      await checkSegment({ name: `subscriber ${index}`, segment, chain, findings, untilMs });
    }
  }
  await checkPolled({ polled: blocks, expected: chain.blocks, gateways, findings });
  await checkPolled({ polled: logs, expected: chain.logs(emitters.request(1)), gateways, findings });
  return findings;
}

/** Behind which block it began, as the head was told before and after. */
type Began = { from: number; to: number };
type Seen = { number: number; key: string };
type Subscribed = { id: string; began: Began };

/** What one connection was told: heads and logs from its acknowledgements to its end. */
type Segment = {
  client: SubscriberSocket;
  request: LogRequest;
  heads: Subscribed;
  logs: Subscribed;
  isEnded: () => boolean;
};

async function keepSubscribed({
  t,
  gateways,
  index,
  request,
  isOver,
}: {
  t: Teardown;
  gateways: readonly SoakedGateway[];
  index: number;
  request: LogRequest;
  isOver: () => boolean;
}): Promise<Segment[]> {
  const segments: Segment[] = [];
  while (!isOver()) {
    try {
      const client = await openSubscriberSocket(t, gateways[index % gateways.length]?.url ?? "");
      let isEnded = false;
      const closed = client.closed.then(() => {
        isEnded = true;
      });
      const heads = await subscribe(client, ["newHeads"]);
      const logs = await subscribe(client, ["logs", request.filter]);
      segments.push({ client, request, heads, logs, isEnded: () => isEnded });
      while (!isOver() && !isEnded) await Promise.race([closed, sleep(100)]);
    } catch {
      // Its gateway is being restarted.
      await sleep(50);
    }
  }
  return segments;
}

async function subscribe(client: SubscriberSocket, params: readonly unknown[]): Promise<Subscribed> {
  const from = Number(await client.call("eth_blockNumber"));
  const id = String(await client.call("eth_subscribe", params));
  return { id, began: { from, to: Number(await client.call("eth_blockNumber")) } };
}

async function checkSegment({
  name,
  segment,
  chain,
  findings,
  untilMs,
}: {
  name: string;
  segment: Segment;
  chain: SeenChain;
  findings: SubscriberFindings;
  /** For so long what is missing may still come. */
  untilMs: number;
}): Promise<void> {
  const { client, request, heads, logs, isEnded } = segment;
  const told = ({ id }: Subscribed) =>
    client.notifications.filter(({ subscription }) => subscription === id).map(({ result }) => result);
  const problem = () => {
    const seenHeads = told(heads).map((head) => ({
      number: numberOf(head, "number"),
      key: textOf(head, "hash"),
    }));
    const seenLogs = told(logs).map((log) => ({ number: numberOf(log, "blockNumber"), key: logKey(log) }));
    const isWhole = !isEnded();
    return (
      compare({ seen: seenHeads, expected: chain.blocks, began: heads.began, isWhole }) ??
      compare({ seen: seenLogs, expected: chain.logs(request), began: logs.began, isWhole })
    );
  };
  while (problem() !== undefined && performance.now() < untilMs) await sleep(20);
  findings.heads += told(heads).length;
  findings.logs += told(logs).length;
  const found = problem();
  if (found !== undefined) findings.broken.push(`${name}: ${found}`);
}

/**
 * What was seen must be what is on the chain without a gap, from the first block behind the acknowledgement, and to the
 * chain's end where the connection lived so long.
 */
function compare({
  seen,
  expected,
  began: { from, to },
  isWhole,
}: {
  seen: readonly Seen[];
  expected: readonly Seen[];
  began: Began;
  isWhole: boolean;
}): string | undefined {
  const [first] = seen;
  const start =
    first === undefined
      ? expected.findIndex(({ number }) => number > to)
      : expected.findIndex(({ key }) => key === first.key);
  if (first !== undefined) {
    if (start === -1) return `${first.key} is not on the chain`;
    if (first.number <= from) return `block ${first.number} was told, subscribed was behind ${from}`;
    const missed = expected[start - 1];
    if (missed !== undefined && missed.number > to) return `block ${missed.number} was not told`;
  }
  const wanted = start === -1 ? [] : expected.slice(start);
  for (const [at, { key }] of seen.entries()) {
    if (key !== wanted[at]?.key) return `number ${at} of ${seen.length} is ${key}, not ${wanted[at]?.key}`;
  }
  return isWhole && seen.length < wanted.length ? `${seen.length} of ${wanted.length} came` : undefined;
}

async function makeFilter({
  gateways: [gateway],
  method,
  params,
}: {
  gateways: readonly SoakedGateway[];
  method: string;
  params: readonly unknown[];
}): Promise<Polled> {
  if (gateway === undefined) throw new Error("there is no gateway");
  const from = Number(await result(gateway, "eth_blockNumber"));
  const id = await result(gateway, method, params);
  const to = Number(await result(gateway, "eth_blockNumber"));
  return { id, began: { from, to }, results: [], failures: [] };
}

/** Polls a filter through one gateway and the other: one question a turn. */
async function* keepPolling(polled: Polled, gateways: readonly SoakedGateway[]): Actor {
  for (let turn = 0; ; turn += 1) {
    const gateway = gateways[turn % gateways.length];
    if (gateway !== undefined) await pollOnce(polled, gateway);
    yield;
  }
}

type Polled = { id: unknown; began: Began; results: unknown[]; failures: string[] };

async function pollOnce({ id, results, failures }: Polled, gateway: SoakedGateway): Promise<void> {
  try {
    const found = await result(gateway, "eth_getFilterChanges", [id]);
    if (Array.isArray(found)) results.push(...found);
  } catch (error) {
    // A gateway that is being restarted takes no connection; what one answers must not be an error.
    if (error instanceof AnsweredWithError) failures.push(error.message);
  }
}

async function checkPolled({
  polled,
  expected,
  gateways,
  findings,
}: {
  polled: Polled;
  expected: readonly Seen[];
  gateways: readonly SoakedGateway[];
  findings: SubscriberFindings;
}): Promise<void> {
  const seen = () =>
    polled.results.map((one) =>
      typeof one === "string"
        ? { number: expected.findIndex(({ key }) => key === one), key: one }
        : { number: numberOf(one, "blockNumber"), key: logKey(one) },
    );
  const endsAtMs = performance.now() + 5000;
  const isCaughtUp = () => seen().at(-1)?.key === expected.at(-1)?.key;
  while (!isCaughtUp() && performance.now() < endsAtMs) {
    for (const gateway of gateways) await pollOnce(polled, gateway);
    await sleep(20);
  }
  findings.polled += polled.results.length;
  findings.broken.push(...polled.failures.map((failure) => `a poll: ${failure}`));
  const problem = compare({ seen: seen(), expected, began: polled.began, isWhole: true });
  if (problem !== undefined) findings.broken.push(`a filter: ${problem}`);
}

class AnsweredWithError extends Error {}

async function result(gateway: SoakedGateway, method: string, params: readonly unknown[] = []) {
  const { json, text } = await gateway.post({ jsonrpc: "2.0", id: 1, method, params });
  if (typeof json === "object" && json !== null && "result" in json) return json.result;
  throw new AnsweredWithError(text);
}
