import { performance } from "node:perf_hooks";
import { setTimeout as sleep } from "node:timers/promises";
import { startValidators } from "../../../test/fakes/validators/start-validators.ts";
import { type GatewayUnderTest, startGateway } from "../../../test/helpers/gateway.ts";
import { startRedis } from "../../../test/helpers/redis.ts";
import { openWebSocket, type WebSocketClient } from "../../../test/helpers/web-socket-client.ts";
import type { Teardown } from "../../processes/teardown.ts";
import { seededRandom, strike } from "../random-faults/run-random-faults.ts";
import {
  deployEmitters,
  type LogWish,
  logKey,
  numberOf,
  readChain,
  type SeenChain,
  textOf,
} from "./emitters.ts";

export type SubscriberFindings = {
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
const blockTimeMs = 250;
const restartEveryMs = 2500;

/**
 * Fifty subscribers of heads and logs and two polled filters over two gateways before five validators, of which one at a
 * time is struck by a random fault; one gateway is restarted now and then, and its subscribers connect again. What each
 * was told is compared with the chain afterwards.
 */
export async function runSubscribers(
  t: Teardown,
  { seed, durationMs }: { seed: number; durationMs: number },
): Promise<SubscriberFindings> {
  const random = seededRandom(seed);
  const findings: SubscriberFindings = {
    faults: [],
    restarts: 0,
    connections: 0,
    heads: 0,
    logs: 0,
    polled: 0,
    broken: [],
  };
  const [redis, cluster] = await Promise.all([
    startRedis(t),
    startValidators(t, { blockTimeMs, gossipDelayMs: 2 }),
  ]);
  const emitters = await deployEmitters(cluster);
  const start = () => startGateway(t, { redisUrl: redis.url, upstreams: cluster.urls });
  const gateways = await Promise.all([start(), start()]);
  const endsAtMs = performance.now() + durationMs;
  const isOver = () => performance.now() > endsAtMs;

  const subscribers = Array.from({ length: subscribersCount }, (_, index) =>
    keepSubscribed({ t, gateways, index, wish: emitters.wish(index), isOver }),
  );
  const blockPolls = keepPolling({ gateways, isOver, method: "eth_newBlockFilter", params: [] });
  const logPolls = keepPolling({
    gateways,
    isOver,
    method: "eth_newFilter",
    params: [emitters.wish(1).filter],
  });
  await Promise.all([
    strike({ cluster, random, isOver, findings }),
    emitters.keepEmitting(isOver, random),
    restartSecond({ gateways, start, isOver, findings }),
  ]);
  await cluster.healAll();
  cluster.pause();
  await cluster.mine(1);
  const chain = await readChain(cluster);

  const untilMs = performance.now() + 8000;
  for (const [index, segments] of (await Promise.all(subscribers)).entries()) {
    findings.connections += segments.length;
    for (const segment of segments) {
      await checkSegment({ name: `subscriber ${index}`, segment, chain, findings, untilMs });
    }
  }
  const [blocks, logs] = await Promise.all([blockPolls, logPolls]);
  await checkPolled({ polled: blocks, expected: chain.blocks, gateways, findings });
  await checkPolled({ polled: logs, expected: chain.logs(emitters.wish(1)), gateways, findings });
  return findings;
}

/** Behind which block it began, as the head was told before and after. */
type Began = { from: number; to: number };
type Seen = { number: number; key: string };
type Subscribed = { id: string; began: Began };

/** What one connection was told: heads and logs from its acknowledgements to its end. */
type Segment = {
  client: WebSocketClient;
  wish: LogWish;
  heads: Subscribed;
  logs: Subscribed;
  isEnded: () => boolean;
};

async function keepSubscribed({
  t,
  gateways,
  index,
  wish,
  isOver,
}: {
  t: Teardown;
  gateways: readonly GatewayUnderTest[];
  index: number;
  wish: LogWish;
  isOver: () => boolean;
}): Promise<Segment[]> {
  const segments: Segment[] = [];
  while (!isOver()) {
    try {
      const client = await openWebSocket(t, gateways[index % gateways.length]?.url ?? "");
      let isEnded = false;
      const closed = client.closed.then(() => {
        isEnded = true;
      });
      const heads = await subscribe(client, ["newHeads"]);
      const logs = await subscribe(client, ["logs", wish.filter]);
      segments.push({ client, wish, heads, logs, isEnded: () => isEnded });
      while (!isOver() && !isEnded) await Promise.race([closed, sleep(100)]);
    } catch {
      // Its gateway is being restarted.
      await sleep(50);
    }
  }
  return segments;
}

async function subscribe(client: WebSocketClient, params: readonly unknown[]): Promise<Subscribed> {
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
  const { client, wish, heads, logs, isEnded } = segment;
  const told = ({ id }: Subscribed) =>
    client.told.filter(({ subscription }) => subscription === id).map(({ result }) => result);
  const problem = () => {
    const seenHeads = told(heads).map((head) => ({
      number: numberOf(head, "number"),
      key: textOf(head, "hash"),
    }));
    const seenLogs = told(logs).map((log) => ({ number: numberOf(log, "blockNumber"), key: logKey(log) }));
    const isWhole = !isEnded();
    return (
      compare({ seen: seenHeads, expected: chain.blocks, began: heads.began, isWhole }) ??
      compare({ seen: seenLogs, expected: chain.logs(wish), began: logs.began, isWhole })
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

/** A filter, from its making to the end, polled by turns through one gateway and the other. */
async function keepPolling({
  gateways,
  isOver,
  method,
  params,
}: {
  gateways: readonly GatewayUnderTest[];
  isOver: () => boolean;
  method: string;
  params: readonly unknown[];
}): Promise<Polled> {
  const [first] = gateways;
  if (first === undefined) throw new Error("there is no gateway");
  const from = Number(await result(first, "eth_blockNumber"));
  const id = await result(first, method, params);
  const to = Number(await result(first, "eth_blockNumber"));
  const polled: Polled = { id, began: { from, to }, results: [], failures: [] };
  for (let turn = 0; !isOver(); turn += 1) {
    const gateway = gateways[turn % gateways.length];
    if (gateway !== undefined) await pollOnce(polled, gateway);
    await sleep(70);
  }
  return polled;
}

type Polled = { id: unknown; began: Began; results: unknown[]; failures: string[] };

async function pollOnce({ id, results, failures }: Polled, gateway: GatewayUnderTest): Promise<void> {
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
  gateways: readonly GatewayUnderTest[];
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

async function result(gateway: GatewayUnderTest, method: string, params: readonly unknown[] = []) {
  const { json, text } = await gateway.post({ jsonrpc: "2.0", id: 1, method, params });
  if (typeof json === "object" && json !== null && "result" in json) return json.result;
  throw new AnsweredWithError(text);
}

/** The second gateway goes, orderly, and comes back. */
async function restartSecond({
  gateways,
  start,
  isOver,
  findings,
}: {
  gateways: GatewayUnderTest[];
  start: () => Promise<GatewayUnderTest>;
  isOver: () => boolean;
  findings: SubscriberFindings;
}): Promise<void> {
  while (!isOver()) {
    await sleep(restartEveryMs);
    await gateways[1]?.stop();
    gateways[1] = await start();
    findings.restarts += 1;
  }
}
