import { monitorEventLoopDelay } from "node:perf_hooks";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { Worker } from "node:worker_threads";
import { pino } from "pino";
import { createKeyStore } from "../../../lib/keys/key-store.ts";
import { createRedisClient, waitForRedis } from "../../../lib/redis/redis-client.ts";
import { developmentWallet, signed } from "../../../test/fakes/validators/rpc.ts";
import { startValidators, type Validators } from "../../../test/fakes/validators/start-validators.ts";
import { startOwnRedis } from "../../processes/own-redis.ts";
import type { Teardown } from "../../processes/teardown.ts";
import { seededRandom } from "../seeded-random.ts";
import { inRandomOrder } from "../steps/draw-steps.ts";
import type { AttackTask } from "./attack.ts";
import { attacks } from "./attacks.ts";
import { startGatewayChild } from "./gateway-child.ts";
import { makeVulnerable, slowCallMs } from "./hostile-chain.ts";
import type { QuietKind } from "./quiet-client.ts";
import { watchGateways } from "./watch-gateways.ts";
import { type Latency, watchQuietClient } from "./watch-quiet-client.ts";

export type AttackFindings = {
  name: string;
  /** The quiet key's calls during the attack, and before it. */
  quiet: Record<QuietKind, Latency>;
  alone: Record<QuietKind, Latency>;
  failures: string[];
  /** The most memory that one gateway used. */
  residentBytesMax: number;
  validatorsLost: number;
  /** The 99th percentile of the delay in the stand-ins' own thread, which no gateway can make up for. */
  validatorsLateMs: number;
  /** How often the attacker saw each outcome. */
  outcomes: Readonly<Record<string, number>>;
  /** What went wrong, in words; empty where every bound held. */
  broken: string[];
};

export type AttackOptions = {
  seed: number;
  /** How long each attack lasts. */
  durationMs: number;
  /** How long the quiet key is measured alone before each attack, and how long it may recover after it. */
  restMs?: number;
  /** 1 means as many connections and calls as have been found to hurt. */
  scale?: number;
  /** Names of attacks; all by default. The seed draws their order. */
  names?: readonly string[];
  /** The checkout whose gateways are attacked. */
  tree?: string;
  /** How much a busy machine may add to a quiet call: attackers, validators and gateways share it. */
  slackMs?: number;
  residentBytesMax?: number;
  onFindings?: (findings: AttackFindings) => void;
};

const gatewaysCount = 3;
const blockTimeMs = 500;
/** Enough blocks for a wide range of them. */
const blocksBefore = 300;
const quietPauseMs = 10;
const unlimited = 1_000_000_000;
const attackerAddresses = 64;
/** A call with an unknown flaw may end one validator of five: the other four are a quorum. */
const validatorsLostMax = 1;
const megabyte = 1024 * 1024;

/**
 * Three gateway processes with the shipped configuration stand before five vulnerable validators. A client without a
 * key and one with a good key attack them, one attack after the other. Meanwhile a client of another team makes a few
 * calls: none may fail, and none may take much longer than without the attack.
 */
export async function runAttacks(
  t: Teardown,
  {
    seed,
    durationMs,
    restMs = 2000,
    scale = 1,
    names = Object.keys(attacks),
    tree = fileURLToPath(new URL("../../..", import.meta.url)),
    slackMs = 150,
    residentBytesMax = 768 * megabyte,
    onFindings = () => {},
  }: AttackOptions,
): Promise<AttackFindings[]> {
  const random = seededRandom(seed);
  const [redis, cluster] = await Promise.all([
    startOwnRedis(t),
    startValidators(t, { blockTimeMs, gossipDelayMs: 2 }),
  ]);
  const transactionHash = await mineTransaction(cluster);
  await cluster.mine(blocksBefore);
  const chain = makeVulnerable(cluster);
  const start = () =>
    startGatewayChild(t, { tree, redisUrl: redis.url, upstreams: cluster.urls, processes: gatewaysCount });
  const gateways = await Promise.all(Array.from({ length: gatewaysCount }, start));
  const [quietKey, attackerKey] = await createKeys(t, redis.url);
  const urls = gateways.map(({ url }) => url);
  const quiet = watchQuietClient(t, { urls, key: quietKey, transactionHash, pauseMs: quietPauseMs });
  // Connections open and V8 compiles before anything is measured.
  await sleep(1500);

  const all: AttackFindings[] = [];
  for (const name of inRandomOrder(names, random)) {
    quiet.clear();
    await sleep(restMs);
    const alone = await quiet.latencies();
    quiet.clear();
    const lostBefore = chain.lost();
    const watch = watchGateways(gateways);
    const late = monitorEventLoopDelay({ resolution: 5 });
    late.enable();
    const outcomes = await attackOnce(t, {
      name,
      seed: Math.floor(random() * 2 ** 31),
      durationMs,
      scale,
      gateways: gateways.map(({ port, url }) => ({ host: "127.0.0.1", port, url })),
      key: attackerKey,
      addresses: loopbackAddresses(),
    });
    const latencies = await quiet.latencies();
    late.disable();
    for (const validator of cluster.validators) await validator.comeBack();
    // A call that fails right after an attack counts as hurt by it.
    await sleep(restMs / 2);
    const { residentBytes, problems } = await watch.stop();
    const found = judge({
      name,
      alone,
      quiet: latencies,
      failures: quiet.failures(),
      outcomes,
      residentBytesMax: residentBytes,
      validatorsLost: chain.lost() - lostBefore,
      validatorsLateMs: Math.round(late.percentile(99) / 1e6),
      broken: problems,
      bounds: { slackMs, residentBytesMax },
    });
    onFindings(found);
    all.push(found);
    chain.forget();
  }
  return all;
}

function judge({
  bounds,
  ...found
}: AttackFindings & { bounds: { slackMs: number; residentBytesMax: number } }): AttackFindings {
  const broken = [...found.broken];
  if (found.failures.length > 0) {
    broken.push(`${found.failures.length} quiet calls failed, the first: ${found.failures[0]}`);
  }
  for (const kind of ["read", "call"] as const) {
    const oneCallMs = kind === "call" ? slowCallMs : 0;
    const boundMs = 2 * found.alone[kind].p99Ms + oneCallMs + 2 * found.validatorsLateMs + bounds.slackMs;
    const { count, p99Ms } = found.quiet[kind];
    if (p99Ms > boundMs) broken.push(`p99 of a quiet ${kind} is ${p99Ms} ms, above ${Math.round(boundMs)}`);
    if (count === 0) broken.push(`no quiet ${kind} was answered`);
  }
  if (found.residentBytesMax > bounds.residentBytesMax) {
    broken.push(`a gateway took ${Math.round(found.residentBytesMax / megabyte)} MiB`);
  }
  if (found.validatorsLost > validatorsLostMax) broken.push(`${found.validatorsLost} validators were lost`);
  return { ...found, broken };
}

async function attackOnce(t: Teardown, task: AttackTask): Promise<Readonly<Record<string, number>>> {
  const worker = new Worker(new URL("./attacker.ts", import.meta.url), { workerData: task });
  t.teardown(() => worker.terminate());
  return await new Promise((resolve, reject) => {
    let outcomes: Readonly<Record<string, number>> = {};
    worker.once("message", (counted: Readonly<Record<string, number>>) => {
      outcomes = counted;
    });
    worker.once("error", reject);
    worker.once("exit", () => resolve(outcomes));
  });
}

async function createKeys(t: Teardown, redisUrl: string): Promise<[quiet: string, attacker: string]> {
  const logger = pino({ level: "silent" });
  const redis = createRedisClient({
    url: redisUrl,
    name: "tollgate-attack",
    commandTimeoutMs: 5000,
    logger,
  });
  t.teardown(() => redis.disconnect());
  await waitForRedis({ redis, logger });
  const store = createKeyStore({ redis });
  const create = async (team: string) => {
    await store.setTeam({ name: team });
    const created = await store.create({
      label: team,
      team,
      permissions: ["rpc", "explorer"],
      profile: "development",
      limitPerMinute: unlimited,
      qa: false,
    });
    if (created.outcome !== "created") throw new Error(`no key was made: ${created.outcome}`);
    return created.secret;
  };
  return [await create("quiet"), await create("attacker")];
}

async function mineTransaction(cluster: Validators): Promise<string> {
  const wallet = developmentWallet(1);
  const answer = await cluster.anvil.ask("eth_sendRawTransaction", [await signed(wallet, 0)]);
  await cluster.mine(1);
  return "result" in answer ? String(answer.result) : "";
}

/** Source addresses; Linux alone has several on its loopback. */
function loopbackAddresses(): (string | undefined)[] {
  if (process.platform !== "linux") return [undefined];
  return Array.from({ length: attackerAddresses }, (_, index) => `127.0.1.${index + 1}`);
}
