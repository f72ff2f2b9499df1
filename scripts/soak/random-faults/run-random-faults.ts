import { setTimeout as sleep } from "node:timers/promises";
import { Transaction } from "ethers/transaction";
import { rendezvousScore } from "../../../gateway/upstream/pool/draw-validator.ts";
import { developmentWallet, signed } from "../../../test/fakes/validators/rpc.ts";
import { startValidators, type Validators } from "../../../test/fakes/validators/start-validators.ts";
import { startOwnRedis } from "../../processes/own-redis.ts";
import type { Teardown } from "../../processes/teardown.ts";
import { seededRandom } from "../seeded-random.ts";
import { type SoakedGateway, startGateway } from "../start-gateway.ts";
import { drawSteps, type Step } from "../steps/draw-steps.ts";
import { type Actor, runSteps } from "../steps/run-steps.ts";
import { createComparison } from "./compare-answers.ts";

export type RandomFaultFindings = {
  seed: number;
  reads: number;
  sends: number;
  /** How many cached answers were compared with a validator's answer at the same block. */
  hits: number;
  faults: string[];
  /** What went wrong, in words; empty where everything held. */
  broken: string[];
};

const readers = 4;
const comparers = 4;
const sendsOfOneLength = 50;
const readsOfOneLength = 120;
const batchesOfOneLength = 60;
const validatorsCount = 5;
const paceMs = 3;
const minedWithinMs = 10_000;

/** The steps of a run, drawn by its seed: about 800 turns for each `length`. */
export function drawRandomFaults({ seed, length }: { seed: number; length: number }): Step[] {
  return drawSteps({
    seed,
    turns: {
      // The next nonce, and the transaction.
      sender: 2 * sendsOfOneLength * length,
      ...Object.fromEntries(names("reader", readers).map((name) => [name, readsOfOneLength * length])),
      ...Object.fromEntries(names("comparer", comparers).map((name) => [name, batchesOfOneLength * length])),
    },
    blockEvery: 60,
    validators: validatorsCount,
    strike: { min: 50, max: 270 },
    pause: { min: 25, max: 100 },
  });
}

/**
 * Two gateways stand before five validators, one of which at a time has a random fault or lies about the head. Readers
 * must never get an error, a liar's block or state, or see the chain go back. One sender uses the gateways in turn and
 * takes its nonces from `pending`: no nonce may be skipped or used twice, and all transactions are mined. Other clients
 * make many calls at once and compare the answers.
 */
export async function runRandomFaults(
  t: Teardown,
  { seed, length = 1 }: { seed: number; length?: number },
): Promise<RandomFaultFindings> {
  const findings: RandomFaultFindings = { seed, reads: 0, sends: 0, hits: 0, faults: [], broken: [] };
  const [redis, cluster] = await Promise.all([
    startOwnRedis(t),
    startValidators(t, { count: validatorsCount, gossipDelayMs: 2 }),
  ]);
  await cluster.mine(2);
  const start = () => startGateway(t, { redisUrl: redis.url, upstreams: cluster.urls });
  const gateways = [await start(), await start()] as const;
  const gatewayOf = (index: number) => gateways[index % 2 === 0 ? 0 : 1];
  const hashes: string[] = [];
  const comparison = createComparison({ broken: findings.broken, sent: hashes });

  const actors = new Map<string, Actor>([["sender", sendInARow({ gatewayOf, findings, hashes })]]);
  for (const [index, name] of names("reader", readers).entries())
    actors.set(name, keepReading({ cluster, gateway: gatewayOf(index), findings }));
  for (const [index, name] of names("comparer", comparers).entries()) {
    const random = seededRandom(seed * 1000 + index);
    actors.set(name, comparison.keepComparing(gatewayOf(index), random));
  }
  const places = inOrderOfSender(cluster.urls);
  const steps = drawRandomFaults({ seed, length }).map((step) =>
    "validator" in step ? { ...step, validator: places[step.validator] ?? step.validator } : step,
  );
  findings.faults = await runSteps({ steps, paceMs, actors: Object.fromEntries(actors), cluster });
  await cluster.healAll();
  await checkMined({ cluster, hashes, findings });
  findings.hits = await comparison.compareHits(cluster);
  return findings;
}

/**
 * The validators' indices, the one first that the sender's transactions go to. The draw goes by the addresses, whose ports
 * differ from run to run: a seed means the same in each run only where its faults count from the sender's validator.
 */
function inOrderOfSender(urls: readonly string[]): number[] {
  const sender = developmentWallet(2).address.toLowerCase();
  const scores = urls.map((url) => rendezvousScore(sender, url));
  return [...urls.keys()].sort((one, other) => (scores[other] ?? 0) - (scores[one] ?? 0));
}

function names(kind: string, count: number): string[] {
  return Array.from({ length: count }, (_, index) => `${kind} ${index}`);
}

async function* keepReading({
  cluster,
  gateway,
  findings,
}: {
  cluster: Validators;
  gateway: SoakedGateway;
  findings: RandomFaultFindings;
}): Actor {
  let highest = 0n;
  const address = developmentWallet(1).address;
  for (;;) {
    const number = BigInt(String(await result(gateway, "eth_blockNumber", [], findings)));
    if (number < highest) findings.broken.push(`eth_blockNumber went from ${highest} back to ${number}`);
    highest = number;
    findings.reads += 1;
    yield;
    const at = `0x${number.toString(16)}`;
    const block = await result(gateway, "eth_getBlockByNumber", [at, false], findings);
    if (block === null) findings.broken.push(`block ${number} was announced and is not there`);
    else if (Object(block).hash !== cluster.block(Number(number))?.hash)
      findings.broken.push(`block ${number} is not the chain's`);
    findings.reads += 1;
    yield;
    const balance = await result(gateway, "eth_getBalance", [address, at], findings);
    if (balance === "0xbad0") findings.broken.push(`a liar's balance at ${number}`);
    findings.reads += 1;
    yield;
  }
}

async function* sendInARow({
  gatewayOf,
  findings,
  hashes,
}: {
  gatewayOf: (index: number) => SoakedGateway;
  findings: RandomFaultFindings;
  /** Takes the hash of each transaction sent. */
  hashes: string[];
}): Actor {
  const wallet = developmentWallet(2);
  const { address: to } = developmentWallet(1);
  for (let nonce = 0; ; nonce += 1) {
    const gateway = gatewayOf(nonce);
    const pending = await result(gateway, "eth_getTransactionCount", [wallet.address, "pending"], findings);
    if (Number(pending) !== nonce)
      findings.broken.push(`pending nonce ${Number(pending)} where ${nonce} comes next`);
    yield;
    const raw = await signed(wallet, nonce, { value: 1n, to });
    const { hash } = Transaction.from(raw);
    hashes.push(String(hash));
    const sent = await result(gateway, "eth_sendRawTransaction", [raw], findings);
    if (sent !== hash) findings.broken.push(`send ${nonce} was answered ${JSON.stringify(sent)}`);
    findings.sends += 1;
    yield;
  }
}

async function checkMined({
  cluster,
  hashes,
  findings,
}: {
  cluster: Validators;
  hashes: readonly string[];
  findings: RandomFaultFindings;
}): Promise<void> {
  const deadlineMs = performance.now() + minedWithinMs;
  const isMined = async (hash: string) => {
    const answer = await cluster.anvil.ask("eth_getTransactionReceipt", [hash]);
    return "result" in answer && answer.result !== null;
  };
  for (const hash of hashes) {
    while (!(await isMined(hash)) && performance.now() < deadlineMs) {
      await cluster.mine(1);
      await sleep(20);
    }
    if (!(await isMined(hash))) findings.broken.push(`${hash} is not mined`);
  }
}

/** The result of one call; anything but a result is a finding. */
async function result(
  gateway: SoakedGateway,
  method: string,
  params: unknown[],
  findings: RandomFaultFindings,
): Promise<unknown> {
  const startedMs = performance.now();
  const { status, json } = await gateway.post({ jsonrpc: "2.0", id: 1, method, params });
  if (typeof json === "object" && json !== null && "result" in json) return json.result;
  const tookMs = Math.round(performance.now() - startedMs);
  findings.broken.push(`${method}: ${status} ${JSON.stringify(json)} after ${tookMs} ms`);
  return 0;
}
