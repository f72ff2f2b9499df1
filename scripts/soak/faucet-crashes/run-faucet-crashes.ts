import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { dataSlice, getAddress, id as hashText, Wallet } from "ethers";
import type { CrashPoint } from "../../../faucet/serve.ts";
import { type CutProxy, startCutProxy } from "../../../test/fakes/cut-proxy.ts";
import { allowlistText, postClaim } from "../../../test/faucet/support/start-faucet.ts";
import type { AnvilUnderTest } from "../../../test/helpers/anvil.ts";
import { coreKey, startGateway } from "../../../test/helpers/gateway.ts";
import { startRedis } from "../../../test/helpers/redis.ts";
import { type DurableRedis, startDurableRedis } from "../../processes/durable-redis.ts";
import type { Teardown } from "../../processes/teardown.ts";
import { seededRandom } from "../seeded-random.ts";
import { checkLimits, checkPayments } from "./checks.ts";
import { type CrashReplica, runCrashReplica } from "./crash-replica.ts";
import { readPayments } from "./read-payments.ts";

/** A dev chain that several runs share. */
export type CrashChain = {
  anvil: AnvilUnderTest;
  /** No blocks are made until what comes back was called. */
  stall: () => () => void;
};

export type CrashFindings = {
  seed: number;
  claims: number;
  /** What was done to faucets, Redis and the chain's connection, in order. */
  faults: string[];
  /** The named points at which a faucet ended itself. */
  points: Set<string>;
  /** What must never happen, in words; empty where all held. */
  broken: string[];
};

/** Every point between two steps of a claim. */
export const crashPoints: readonly CrashPoint[] = [
  ...(["before claim", "after claim", "before sign", "after sign", "before send", "after send"] as const),
  ...(["after mark", "before end", "after end", "before first nonce"] as const),
];

const claimsOverMs = 1000;
const claimRetryMs = 100;
const followMs = 50;
/** Machines that run tests can be slow; what takes longer is lost. */
const settleWithinMs = 120_000;
const faultsMax = 4;
const laterPointsMax = 1;
const amountWei = 10n ** 19n;

/**
 * Two faucets, their Redis and their connections to a dev chain are killed and cut at named points and at random
 * instants, while claims by as many addresses come in, each repeated with its Idempotency-Key until it is accepted. In
 * the end the chain is asked: each must have been paid exactly once, in its claim's name.
 */
export async function runFaucetCrashes(
  t: Teardown,
  { seed, claims: count, anvil, stall }: { seed: number; claims: number } & CrashChain,
): Promise<CrashFindings> {
  const random = seededRandom(seed);
  const findings: CrashFindings = { seed, claims: count, faults: [], points: new Set(), broken: [] };
  const wallet = new Wallet(hashText(`wallet ${seed} ${anvil.port}`));
  const addresses = Array.from({ length: count }, (_, index) =>
    getAddress(dataSlice(hashText(`claim ${seed} ${index} ${anvil.port}`), 12)),
  );
  const [redis, proxy] = await Promise.all([startDurableRedis(t), startCutProxy(t, { port: anvil.port })]);
  const upstream = await startUpstream(t, { proxy, hasGateway: random() < 0.5 });
  findings.faults.push(upstream.apiKey === "" ? "no gateway" : "a gateway in between");
  await anvil.rpc("anvil_setBalance", [wallet.address, `0x${(amountWei * BigInt(count + 1)).toString(16)}`]);
  const firstBlock = Number(await anvil.rpc("eth_blockNumber"));
  const configFile = await writeFiles(t, { redis, upstream, wallet, addresses });
  const pointOfSeed = crashPoints[seed % crashPoints.length] ?? "before claim";
  let pointsLeft = laterPointsMax;
  const replicas = [0, 1].map((index) =>
    runCrashReplica({
      configFile,
      cacheFolder: compileCache,
      nextPoint() {
        // One of the two pays, so both are to end at the seed's own point, until one has; later ones are drawn.
        if (!findings.points.has(pointOfSeed)) return `${pointOfSeed}:1`;
        if (pointsLeft === 0 || random() < 0.5) return "";
        pointsLeft -= 1;
        return `${crashPoints[Math.floor(random() * crashPoints.length)]}:${1 + Math.floor(random() * 5)}`;
      },
      onPoint(point) {
        findings.points.add(point.replace(/:\d+$/, ""));
        findings.faults.push(`replica ${index}: kill -9 ${point}`);
      },
    }),
  );
  t.teardown(async () => {
    await Promise.all(replicas.map((replica) => replica.stop()));
  });

  const accepted = claimAll({ addresses, replicas, random });
  await strike({ replicas, redis, proxy, chain: { anvil, stall }, random, findings });
  pointsLeft = 0;
  const claims = await accepted;
  const confirmed = await allConfirmed({ replicas, ids: [...claims.values()] });
  await Promise.all(replicas.map((replica) => replica.stop()));

  const paid = await readPayments({ anvil, wallet: wallet.address, firstBlock });
  if (claims.size < count) findings.broken.push(`${claims.size} of ${count} claims were accepted`);
  if (confirmed < claims.size) findings.broken.push(`${confirmed} of ${claims.size} claims were confirmed`);
  findings.broken.push(
    ...checkPayments({ addresses, claims, paid, amountWei }),
    ...(await checkLimits({ redisUrl: redis.url, addresses })),
  );
  return findings;
}

/** What the faucets ask: the proxy that is cut, or a gateway before it. */
async function startUpstream(
  t: Teardown,
  { proxy, hasGateway }: { proxy: CutProxy; hasGateway: boolean },
): Promise<{ url: string; apiKey: string }> {
  if (!hasGateway) return { url: proxy.url, apiKey: "" };
  const { url: redisUrl } = await startRedis(t);
  const { url } = await startGateway(t, { redisUrl, upstreams: [proxy.url] });
  return { url, apiKey: coreKey };
}

const compileCache = join(tmpdir(), "tollgate-compile-cache");

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
  await writeFile(
    join(folder, "allowlist.yaml"),
    allowlistText(addresses.map((address) => ({ address, label: "crashes" }))),
  );
  const file = join(folder, "faucet.yaml");
  await writeFile(
    file,
    // JSON is YAML.
    JSON.stringify({
      port: 0,
      private: { port: 0 },
      ops: { port: 0 },
      redis: redis.url,
      redisCommandTimeoutMs: 3000,
      upstream: upstream.url,
      upstreamApiKey: upstream.apiKey,
      upstreamTimeoutMs: 1000,
      // A hundredth: an outage of two to four seconds is one of minutes.
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

/**
 * Claims for each address, and again with the same Idempotency-Key until it is accepted; answers the ids of the claims
 * that were within `settleWithinMs`.
 */
async function claimAll({
  addresses,
  replicas,
  random,
}: {
  addresses: readonly string[];
  replicas: readonly CrashReplica[];
  random: () => number;
}): Promise<Map<string, string>> {
  const claims = new Map<string, string>();
  const late = AbortSignal.timeout(settleWithinMs);
  const delaysMs = addresses.map(() => random() * claimsOverMs);
  await Promise.all(
    addresses.map(async (address, index) => {
      await sleep(delaysMs[index]);
      for (let tries = index; !claims.has(address) && !late.aborted; tries += 1) {
        const url = replicas[tries % replicas.length]?.url();
        const headers = { "Idempotency-Key": address };
        const answer =
          url === undefined
            ? undefined
            : await postClaim(url, { address, website: "" }, headers).catch(() => undefined);
        if (answer?.status === 202) claims.set(address, answer.json.claim.id);
        else await sleep(claimRetryMs);
      }
    }),
  );
  return claims;
}

async function strike({
  replicas,
  redis,
  proxy,
  chain: { anvil, stall },
  random,
  findings,
}: {
  replicas: readonly CrashReplica[];
  redis: DurableRedis;
  proxy: CutProxy;
  chain: CrashChain;
  random: () => number;
  findings: CrashFindings;
}): Promise<void> {
  while (replicas.every((replica) => replica.url() === undefined)) await sleep(10);
  const count = 2 + Math.floor(random() * (faultsMax - 1));
  for (let fault = 0; fault < count; fault += 1) {
    await sleep(random() * 300);
    const kind = random();
    const lastsMs = random() < 0.3 ? longMs(random) : 50 + random() * 250;
    if (kind < 0.2) {
      const index = random() < 0.5 ? 0 : 1;
      findings.faults.push(`kill -9 of replica ${index}`);
      replicas[index]?.kill();
    } else if (kind < 0.5) {
      findings.faults.push("kill -9 of Redis");
      await redis.crash();
    } else if (kind < 0.6) {
      const stalledMs = longMs(random);
      findings.faults.push(`no blocks for ${stalledMs} ms, then a pool that is lost`);
      const goOn = stall();
      await sleep(stalledMs);
      // As a network that is recovered: what its nodes held is gone.
      await anvil.rpc("anvil_dropAllTransactions");
      goOn();
    } else {
      const mode = kind < 0.8 ? "cut" : "mute";
      findings.faults.push(`chain ${mode} for ${Math.round(lastsMs)} ms`);
      proxy.set(mode);
      await sleep(lastsMs);
      proxy.set("open");
    }
  }
}

/** Minutes, a hundred times as fast as the faucets' patience is in earnest. */
function longMs(random: () => number): number {
  return Math.round(2000 + random() * 2000);
}

/** Follows the claims until all are confirmed, at most for `settleWithinMs`; answers how many are. */
async function allConfirmed({
  replicas,
  ids,
}: {
  replicas: readonly CrashReplica[];
  ids: readonly string[];
}): Promise<number> {
  const late = AbortSignal.timeout(settleWithinMs);
  const open = new Set(ids);
  for (let tries = 0; open.size > 0 && !late.aborted; tries += 1) {
    const url = replicas[tries % replicas.length]?.url();
    const [claimId = ""] = open;
    open.delete(claimId);
    if (url !== undefined && (await isConfirmed(`${url}/claims/${claimId}`))) continue;
    // Behind the others.
    open.add(claimId);
    await sleep(followMs);
  }
  return ids.length - open.size;
}

async function isConfirmed(url: string): Promise<boolean> {
  const text = await fetch(url).then(
    (response) => response.text(),
    () => "",
  );
  return text.includes('"status":"confirmed"');
}
