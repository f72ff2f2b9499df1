import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { id as hashText } from "ethers/hash";
import { pino } from "pino";
import { developmentFeeSettings } from "../../../lib/fee-collector/fee-settings.ts";
import { createPostgresPool } from "../../../lib/postgres/postgres-pool.ts";
import type { DurableRedis } from "../../processes/durable-redis.ts";
import type { OwnPostgres } from "../../processes/own-postgres.ts";
import type { Teardown } from "../../processes/teardown.ts";
import { runCrashReplica } from "../crash-replica.ts";
import { createIndex } from "../follower-crashes/create-index.ts";
import { until } from "../follower-crashes/until.ts";
import { seededRandom } from "../seeded-random.ts";
import { checkEvents, checkInvoices, checkKeys, checkSecrets } from "./checks.ts";
import { type CrashChain, startCrashChain } from "./crash-chain.ts";
import { crashPoints, drawMerchantSteps, type MerchantStep } from "./draw-steps.ts";
import { type PaidInvoice, payInvoice } from "./invoice-payer.ts";
import { createKeyBuyer } from "./key-buyer.ts";
import type { PlantedFault } from "./plant-fault.ts";
import { createShop } from "./shop.ts";

export type MerchantCrashFindings = {
  seed: number;
  /** What was done to apis, PostgreSQL and Redis, in order. */
  faults: string[];
  /** The named points at which an api ended itself. */
  points: Set<string>;
  orders: number;
  keys: number;
  /** What went wrong, in words; empty where everything held. */
  broken: string[];
};

const { feeCollector } = developmentFeeSettings;
const main = new URL("crash-main.ts", import.meta.url);
const feesFile = fileURLToPath(new URL("../../../config/fees.yaml", import.meta.url));
const compileCache = join(tmpdir(), "tollgate-compile-cache");
const settleWithinMs = 120_000;
/** A fault that is planted is found sooner. */
const plantedWithinMs = 15_000;
const stepMs = 60;
const retryMs = 50;
const many = 1_000_000;

/**
 * Two APIs, their PostgreSQL and their Redis are killed at named points and drawn steps, while invoices are paid in every way
 * that there is and wallets buy keys. In the end each order must be booked as the chain has it, and each paid key be issued
 * once.
 */
export async function runMerchantCrashes(
  t: Teardown,
  {
    seed,
    postgres,
    redis,
    plant = "",
  }: { seed: number; postgres: OwnPostgres; redis: DurableRedis; plant?: PlantedFault | "" },
): Promise<MerchantCrashFindings> {
  const findings: MerchantCrashFindings = {
    seed,
    faults: [],
    points: new Set(),
    orders: 0,
    keys: 0,
    broken: [],
  };
  const [postgresUrl, chain] = await Promise.all([
    createIndex(postgres.url, `seed_${seed}_${plant.replaceAll(" ", "_")}`),
    startCrashChain(t),
  ]);
  const pool = createPostgresPool({ url: postgresUrl, name: "soak", logger: pino({ level: "silent" }) });
  t.teardown(() => pool.end());
  if (plant === "no order check") {
    await pool.query("alter table svc.api_keys drop constraint api_keys_order_id_key");
  }
  const configFile = await writeConfig(t, { postgresUrl, redis, chain });
  const crashes = createCrashPoints({ seed, findings });
  const replicas = [0, 1].map((index) =>
    runCrashReplica({
      ...{ main, configFile, cacheFolder: compileCache, env: { CRASH_PLANT: plant } },
      mayFailToStart: true,
      ...crashes.ofReplica(index),
    }),
  );
  const stopReplicas = () => Promise.all(replicas.map((replica) => replica.stop()));
  t.teardown(stopReplicas);

  const giveUpMs = plant === "" ? settleWithinMs : plantedWithinMs;
  const { steps, buyers: count } = drawMerchantSteps(seed);
  const buyers = Array.from({ length: count }, (_, index) =>
    createKeyBuyer({ replicas, privateKey: hashText(`buyer ${seed} ${index}`), send: chain.send, giveUpMs }),
  );
  const shop = createShop({ db: pool, rpc: chain.rpc, feeCollector });
  const retry = createRetry();
  await until("payments are followed", () => hasBegun(pool), { withinMs: settleWithinMs });

  const invoices: PaidInvoice[] = [];
  const underWay: Promise<unknown>[] = [];
  let struck: Promise<unknown> = Promise.resolve();
  const begin = (work: Promise<unknown>) =>
    underWay.push(work.catch((error: Error) => findings.broken.push(error.message)));
  for (const step of steps) {
    if (step.act === "invoice") {
      const paying = payInvoice({ way: step.way, shop, now: chain.now, retry });
      begin(paying.then((paid) => invoices.push(paid)));
    } else if (step.act === "buy") begin(buyers[step.buyer]?.buy() ?? Promise.resolve());
    else if (step.act === "ask again") begin(buyers[step.buyer]?.askTwice() ?? Promise.resolve());
    else {
      // One server is not killed while it is started again.
      struck = struck.then(() => strike(step, { replicas, postgres, redis, findings }));
      begin(struck);
    }
    await sleep(stepMs);
  }
  await Promise.all(underWay);
  crashes.stop();
  const head = await chain.height();
  await until(`block ${head} is booked and indexed`, () => isBooked(pool, head), {
    withinMs: settleWithinMs,
    everyMs: 50,
  }).catch((error: Error) => findings.broken.push(error.message));
  const found = buyers.map((buyer) => buyer.found);
  findings.broken.push(
    ...(await checkInvoices(pool, chain.rpc, invoices)),
    ...(await checkEvents(pool, chain.rpc, feeCollector)),
    ...(await checkKeys(pool, found)),
    ...(await checkSecrets(replicas, found)),
  );
  await stopReplicas();
  findings.orders = invoices.length;
  findings.keys = count;
  return findings;
}

async function strike(
  step: Extract<MerchantStep, { act: `kill ${string}` }>,
  {
    replicas,
    postgres,
    redis,
    findings,
  }: {
    replicas: readonly { kill(): void }[];
    postgres: OwnPostgres;
    redis: DurableRedis;
    findings: MerchantCrashFindings;
  },
): Promise<void> {
  findings.faults.push(step.act === "kill api" ? `kill -9 of api ${step.index}` : step.act);
  if (step.act === "kill api") replicas[step.index]?.kill();
  else if (step.act === "kill Redis") await redis.crash();
  else {
    await postgres.kill();
    await postgres.restart();
  }
}

/** Chooses where each api ends itself: both at the seed's own point until one has reached it, then one at a drawn point. */
function createCrashPoints({ seed, findings }: { seed: number; findings: MerchantCrashFindings }) {
  const ownPoint = crashPoints[seed % crashPoints.length] ?? "in transaction";
  let isOver = false;
  return {
    /** From now on no api ends itself. */
    stop(): void {
      isOver = true;
    },
    ofReplica(index: number) {
      const random = seededRandom(seed * 1000 + index);
      return {
        nextPoint(): string {
          if (isOver || findings.points.has(ownPoint)) return "";
          return `${ownPoint}:${ownPoint.startsWith("key") ? 1 : 1 + Math.floor(random() * 8)}`;
        },
        onPoint(point: string): void {
          findings.points.add(point.replace(/:\d+$/, ""));
          findings.faults.push(`api ${index}: kill -9 ${point}`);
        },
      };
    },
  };
}

async function writeConfig(
  t: Teardown,
  { postgresUrl, redis, chain }: { postgresUrl: string; redis: DurableRedis; chain: CrashChain },
): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "tollgate-crashes-"));
  t.teardown(() => rm(folder, { recursive: true, force: true }));
  const file = join(folder, "api.yaml");
  // JSON is YAML.
  await writeFile(
    file,
    JSON.stringify({
      ...{ port: 0, ops: { port: 0 }, redis: redis.url, postgres: { url: postgresUrl } },
      ...{
        upstream: chain.anvil.url,
        contractsFolder: "",
        feesFile,
        headPollMs: 100,
        ledger: { pollMs: 200 },
      },
      limits: { points: many },
      session: { noncesPerMinute: many, signInsPerMinute: many },
    }),
  );
  return file;
}

/** Goes on while PostgreSQL is away. */
function createRetry() {
  return async <Value>(work: () => Promise<Value>): Promise<Value> => {
    const endMs = performance.now() + settleWithinMs;
    for (;;) {
      try {
        return await work();
      } catch (error) {
        if (performance.now() > endMs) throw error;
        await sleep(retryMs);
      }
    }
  };
}

/** False also while PostgreSQL is away. */
async function hasBegun(pool: ReturnType<typeof createPostgresPool>): Promise<boolean> {
  return isBooked(pool, 0);
}

async function isBooked(pool: ReturnType<typeof createPostgresPool>, block: number): Promise<boolean> {
  try {
    const { rowCount } = await pool.query(
      "select from svc.chain_cursor, chain.follower where next_block > $1 and next > $1",
      [block],
    );
    return rowCount === 1;
  } catch {
    return false;
  }
}
