import { performance } from "node:perf_hooks";
import { setTimeout as sleep } from "node:timers/promises";
import { Transaction } from "ethers";
import { developmentWallet, signed } from "../../../test/fakes/validators/rpc.ts";
import { startValidators, type Validators } from "../../../test/fakes/validators/start-validators.ts";
import { type GatewayUnderTest, startGateway } from "../../../test/helpers/gateway.ts";
import { startRedis } from "../../../test/helpers/redis.ts";
import type { Teardown } from "../../processes/teardown.ts";
import { createComparison } from "./compare-answers.ts";

export type SoakFindings = {
  seed: number;
  reads: number;
  sends: number;
  /** Answers from memory, each compared with what a validator says of the same block. */
  hits: number;
  faults: string[];
  /** What must never happen, in words; empty where all held. */
  broken: string[];
};

const sendsInARow = 50;
const readers = 4;
const blockTimeMs = 250;

/**
 * Two gateways before five validators, one of which at a time is struck by a random fault or lies of the chain's end.
 * Readers must never get an error, a liar's block or state, or see the chain go back; one sender sends 50 transactions in a row, each through the other gateway, taking its
 * nonces from `pending`: none may be left out or used twice, and all are mined. Beside them clients ask for much at once,
 * and compare it.
 */
export async function runRandomFaults(
  t: Teardown,
  { seed, durationMs }: { seed: number; durationMs: number },
): Promise<SoakFindings> {
  const random = seededRandom(seed);
  const findings: SoakFindings = { seed, reads: 0, sends: 0, hits: 0, faults: [], broken: [] };
  const [redis, cluster] = await Promise.all([
    startRedis(t),
    startValidators(t, { blockTimeMs, gossipDelayMs: 2 }),
  ]);
  await cluster.mine(2);
  const options = { redisUrl: redis.url, upstreams: cluster.urls, change: withArrays };
  const gateways = await Promise.all([startGateway(t, options), startGateway(t, options)]);
  const endsAtMs = performance.now() + durationMs;
  const isOver = () => performance.now() > endsAtMs;
  const sent: string[] = [];
  const comparison = createComparison({ broken: findings.broken, sent, isOver, random });

  await Promise.all([
    strike({ cluster, random, isOver, findings }),
    ...Array.from({ length: readers }, (_, index) => {
      const gateway = gateways[index % gateways.length];
      return gateway === undefined ? undefined : keepReading({ cluster, gateway, isOver, findings });
    }),
    ...gateways.flatMap((gateway) => [comparison.keepComparing(gateway), comparison.keepComparing(gateway)]),
    sendInARow({ gateways, cluster, findings, random, hashes: sent }),
  ]);
  await cluster.healAll();
  findings.hits = await comparison.compareHits(cluster);
  return findings;
}

/** The shipped settings: `startGateway` sends each call alone, and remembers nothing, unless told otherwise. */
function withArrays<
  Config extends { forward: { arrays: { light: number; call: number } }; memory: { bytesMax: number } },
>(config: Config): Config {
  return {
    ...config,
    memory: { ...config.memory, bytesMax: 64 * 1024 * 1024 },
    forward: { ...config.forward, arrays: { ...config.forward.arrays, light: 64, call: 8 } },
  };
}

/** One validator at a time is struck for a while, then heals. */
export async function strike({
  cluster,
  random,
  isOver,
  findings,
}: {
  cluster: Validators;
  random: () => number;
  isOver: () => boolean;
  findings: Pick<SoakFindings, "faults">;
}): Promise<void> {
  while (!isOver()) {
    const index = Math.floor(random() * cluster.validators.length);
    const struck = cluster.validator(index);
    const faults: Record<string, () => unknown> = {
      die: () => struck.die(),
      hang: () => struck.hang(),
      slow: () => struck.slow(700),
      freeze: () => struck.freeze(),
      garbage: () => struck.garbage("halfJson"),
      status: () => struck.status(502),
      cut: () => struck.cutBody("length"),
      wrongIds: () => struck.wrongIds(),
      missingId: () => struck.missingId(),
      arrayAsErrorObject: () => struck.arrayAsErrorObject(),
      dropWebSockets: () => struck.dropWebSockets(),
      silentWebSocket: () => struck.silentWebSocket(),
      lieNext: () => struck.lie("next"),
      lieJump: () => struck.lie("jump"),
      lieBranch: () => struck.lie("branch"),
    };
    const names = Object.keys(faults);
    const name = names[Math.floor(random() * names.length)] ?? "die";
    findings.faults.push(`${name} ${index}`);
    await faults[name]?.();
    await sleep(200 + random() * 900);
    await struck.heal();
    await sleep(100 + random() * 300);
  }
}

async function keepReading({
  cluster,
  gateway,
  isOver,
  findings,
}: {
  cluster: Validators;
  gateway: GatewayUnderTest;
  isOver: () => boolean;
  findings: SoakFindings;
}): Promise<void> {
  let highest = 0n;
  const address = developmentWallet(1).address;
  while (!isOver()) {
    const number = BigInt(String(await result(gateway, "eth_blockNumber", [], findings)));
    if (number < highest) findings.broken.push(`eth_blockNumber went from ${highest} back to ${number}`);
    highest = number;
    const block = await result(
      gateway,
      "eth_getBlockByNumber",
      [`0x${number.toString(16)}`, false],
      findings,
    );
    if (block === null) findings.broken.push(`block ${number} was told and is not there`);
    else if (Object(block).hash !== cluster.block(Number(number))?.hash)
      findings.broken.push(`block ${number} is not the chain's`);
    const balance = await result(gateway, "eth_getBalance", [address, `0x${number.toString(16)}`], findings);
    if (balance === "0xbad0") findings.broken.push(`a liar's balance at ${number}`);
    findings.reads += 3;
    await sleep(5);
  }
}

async function sendInARow({
  gateways,
  cluster,
  findings,
  random,
  hashes,
}: {
  gateways: readonly GatewayUnderTest[];
  cluster: Validators;
  findings: SoakFindings;
  random: () => number;
  /** Where the hashes go of what was sent. */
  hashes: string[];
}): Promise<void> {
  const wallet = developmentWallet(2);
  const { address: to } = developmentWallet(1);
  for (let nonce = 0; nonce < sendsInARow; nonce += 1) {
    const gateway = gateways[nonce % gateways.length];
    if (gateway === undefined) return;
    const pending = Number(
      await result(gateway, "eth_getTransactionCount", [wallet.address, "pending"], findings),
    );
    if (pending !== nonce) findings.broken.push(`pending nonce ${pending} where ${nonce} comes next`);
    const raw = await signed(wallet, nonce, { value: 1n, to });
    const sent = await result(gateway, "eth_sendRawTransaction", [raw], findings);
    if (sent !== Transaction.from(raw).hash)
      findings.broken.push(`send ${nonce} was answered ${JSON.stringify(sent)}`);
    hashes.push(String(sent));
    findings.sends += 1;
    await sleep(random() * 60);
  }
  const deadlineMs = performance.now() + 10_000;
  for (const hash of hashes) {
    const isMined = async () => {
      const answer = await cluster.anvil.ask("eth_getTransactionReceipt", [hash]);
      return "result" in answer && answer.result !== null;
    };
    while (!(await isMined()) && performance.now() < deadlineMs) await sleep(50);
    if (!(await isMined())) findings.broken.push(`${hash} is not mined`);
  }
}

/** The result of one call; anything but a result is a finding. */
async function result(
  gateway: GatewayUnderTest,
  method: string,
  params: unknown[],
  findings: SoakFindings,
): Promise<unknown> {
  const started = performance.now();
  const { status, json } = await gateway.post({ jsonrpc: "2.0", id: 1, method, params });
  if (typeof json === "object" && json !== null && "result" in json) return json.result;
  findings.broken.push(
    `${method}: ${status} ${JSON.stringify(json)} after ${Math.round(performance.now() - started)} ms`,
  );
  return 0;
}

/** Mulberry32: small, and the same on every machine. */
export function seededRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
