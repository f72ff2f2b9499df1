import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { dataSlice, getAddress, id as hashText, Wallet } from "ethers";
import type { CrashPoint } from "../../../faucet/serve.ts";
import { type CutProxy, startCutProxy } from "../../../test/fakes/cut-proxy.ts";
import { type DurableRedis, startDurableRedis } from "../../processes/durable-redis.ts";
import { startOwnRedis } from "../../processes/own-redis.ts";
import type { Teardown } from "../../processes/teardown.ts";
import { type CrashReplica, runCrashReplica } from "../crash-replica.ts";
import { seededRandom } from "../seeded-random.ts";
import { soakKeys, startGateway } from "../start-gateway.ts";
import { checkLimits, checkPayments } from "./checks.ts";
import { type Claimer, createClaimer } from "./claim-all.ts";
import { type CrashChain, startCrashChain } from "./crash-chain.ts";
import { type CrashStep, drawCrashSteps, stepMs } from "./draw-crash-steps.ts";
import { readPayments } from "./read-payments.ts";

export type CrashFindings = {
  seed: number;
  claims: number;
  /** What was done to faucets, Redis and the chain's connection, in order. */
  faults: string[];
  /** The named points at which a faucet ended itself. */
  points: Set<string>;
  /** What went wrong, in words; empty where everything held. */
  broken: string[];
};

/** Every point between two steps of a claim. */
export const crashPoints: readonly CrashPoint[] = [
  ...(["before claim", "after claim", "before sign", "after sign", "before send", "after send"] as const),
  ...(["after mark", "before end", "after end", "before first nonce"] as const),
];

/** A claim that makes no progress for so long is lost. */
const progressWithinMs = 120_000;
const laterPointsMax = 1;
const amountWei = 10n ** 19n;
const main = new URL("crash-main.ts", import.meta.url);
const ownPrograms = [main, main];
const compileCache = join(tmpdir(), "tollgate-compile-cache");

/**
 * Kills two faucets and their Redis and cuts their connections to a dev chain, at named points and at drawn steps.
 * Meanwhile many addresses claim, and repeat each claim with its Idempotency-Key until it is accepted. In the end each
 * address must have been paid exactly once on the chain, in its claim's name.
 */
export async function runFaucetCrashes(
  t: Teardown,
  {
    seed,
    claims: count,
    programs = ownPrograms,
  }: {
    seed: number;
    claims: number;
    /** The crash-main.ts of each faucet: those of two versions run beside each other. */
    programs?: readonly URL[];
  },
): Promise<CrashFindings> {
  const findings: CrashFindings = { seed, claims: count, faults: [], points: new Set(), broken: [] };
  const wallet = new Wallet(hashText(`wallet ${seed}`));
  const addresses = Array.from({ length: count }, (_, index) =>
    getAddress(dataSlice(hashText(`claim ${seed} ${index}`), 12)),
  );
  const [redis, chain] = await Promise.all([startDurableRedis(t), startCrashChain(t)]);
  const { anvil } = chain;
  const proxy = await startCutProxy(t, { port: anvil.port });
  const upstream = await startUpstream(t, { proxy, hasGateway: seed % 2 === 0 });
  findings.faults.push(upstream.apiKey === "" ? "no gateway" : "a gateway in between");
  await anvil.rpc("anvil_setBalance", [wallet.address, `0x${(amountWei * BigInt(count + 1)).toString(16)}`]);
  const firstBlock = Number(await anvil.rpc("eth_blockNumber"));
  const configFile = await writeFiles(t, { redis, upstream, wallet, addresses });

  const crashes = createCrashPoints({ seed, findings });
  const replicas = programs.map((program, index) =>
    runCrashReplica({ main: program, configFile, cacheFolder: compileCache, ...crashes.ofReplica(index) }),
  );
  t.teardown(async () => {
    await Promise.all(replicas.map((replica) => replica.stop()));
  });
  const claimer = createClaimer({ addresses, replicas, progressWithinMs });
  while (replicas.every((replica) => replica.url() === undefined)) await sleep(10);
  const steps = drawCrashSteps({ seed, claims: count });
  await play({ steps, claimer, replicas, redis, proxy, chain, findings });
  crashes.stop();
  await claimer.allAccepted();
  const confirmed = await claimer.allConfirmed();
  await Promise.all(replicas.map((replica) => replica.stop()));

  const claims = claimer.accepted();
  const paid = await readPayments({ anvil, wallet: wallet.address, firstBlock });
  if (claims.size < count) findings.broken.push(`${claims.size} of ${count} claims were accepted`);
  if (confirmed < claims.size) findings.broken.push(`${confirmed} of ${claims.size} claims were confirmed`);
  findings.broken.push(
    ...checkPayments({ addresses, claims, paid, amountWei }),
    ...(await checkLimits({ redisUrl: redis.url, addresses })),
  );
  return findings;
}

/** Chooses where each replica ends itself: first one of the two at the seed's own point, later at drawn points. */
function createCrashPoints({ seed, findings }: { seed: number; findings: CrashFindings }) {
  const ownPoint = crashPoints[seed % crashPoints.length] ?? "before claim";
  let pointsLeft = laterPointsMax;
  return {
    /** From now on no replica ends itself. */
    stop(): void {
      pointsLeft = 0;
    },
    ofReplica(index: number) {
      const random = seededRandom(seed * 1000 + index);
      return {
        nextPoint(): string {
          // Only one of the two pays, so both get the seed's own point until one of them has reached it.
          if (!findings.points.has(ownPoint)) return `${ownPoint}:1`;
          const [isDrawn, point, passed] = [random() < 0.5, random(), random()];
          if (pointsLeft === 0 || !isDrawn) return "";
          pointsLeft -= 1;
          return `${crashPoints[Math.floor(point * crashPoints.length)]}:${1 + Math.floor(passed * 5)}`;
        },
        onPoint(point: string): void {
          findings.points.add(point.replace(/:\d+$/, ""));
          findings.faults.push(`replica ${index}: kill -9 ${point}`);
        },
      };
    },
  };
}

/** Where the faucets send their calls: the proxy that is cut, or a gateway before it. */
async function startUpstream(
  t: Teardown,
  { proxy, hasGateway }: { proxy: CutProxy; hasGateway: boolean },
): Promise<{ url: string; apiKey: string }> {
  if (!hasGateway) return { url: proxy.url, apiKey: "" };
  const { url: redisUrl } = await startOwnRedis(t);
  const { url } = await startGateway(t, { redisUrl, upstreams: [proxy.url] });
  return { url, apiKey: soakKeys().core };
}

async function writeFiles(
  t: Teardown,
  {
    redis,
    upstream,
    wallet,
    addresses,
  }: {
    redis: DurableRedis;
    upstream: { url: string; apiKey: string };
    wallet: Wallet;
    addresses: readonly string[];
  },
): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "tollgate-crashes-"));
  t.teardown(() => rm(folder, { recursive: true, force: true }));
  // JSON is YAML.
  await writeFile(
    join(folder, "allowlist.yaml"),
    JSON.stringify({ addresses: addresses.map((address) => ({ address, label: "crashes" })) }),
  );
  const file = join(folder, "faucet.yaml");
  await writeFile(
    file,
    JSON.stringify({
      port: 0,
      private: { port: 0 },
      ops: { port: 0 },
      redis: redis.url,
      redisCommandTimeoutMs: 3000,
      upstream: upstream.url,
      upstreamApiKey: upstream.apiKey,
      upstreamTimeoutMs: 1000,
      // A hundredth of the shipped times: an outage of one second stands for minutes.
      giveUpAfterMs: 300,
      allowlistFile: "allowlist.yaml",
      wallet: { developmentKey: wallet.privateKey },
      pollMs: 60,
      idlePollMs: 500,
      resendAfterMs: 400,
      leaderMs: 1000,
      inFlightMax: 20,
      limits: { perClient: 100_000, overall: 100_000, refusals: 100_000 },
    }),
  );
  return file;
}

async function play({
  steps,
  claimer,
  replicas,
  redis,
  proxy,
  chain,
  findings,
}: {
  steps: readonly CrashStep[];
  claimer: Claimer;
  replicas: readonly CrashReplica[];
  redis: DurableRedis;
  proxy: CutProxy;
  chain: CrashChain;
  findings: CrashFindings;
}): Promise<void> {
  let heal = async () => {};
  for (const step of steps) {
    switch (step.act) {
      case "claim":
        claimer.begin(step.index);
        await sleep(stepMs);
        break;
      case "follow":
        await Promise.all([claimer.follow(step.index), sleep(stepMs)]);
        break;
      case "kill replica":
        findings.faults.push(`kill -9 of replica ${step.index}`);
        replicas[step.index]?.kill();
        break;
      case "kill Redis":
        findings.faults.push("kill -9 of Redis");
        await redis.crash();
        break;
      case "cut":
      case "mute":
        findings.faults.push(`chain ${step.act}`);
        proxy.set(step.act);
        heal = async () => proxy.set("open");
        break;
      case "stall":
        findings.faults.push("no blocks, then a pool that is lost");
        chain.stall();
        heal = chain.recover;
        break;
      case "heal":
        findings.faults.push("heal");
        await heal();
        break;
    }
  }
}
