import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { id as hashText } from "ethers/hash";
import { pino } from "pino";
import { developmentFeeSettings } from "../../../lib/fee-collector/fee-settings.ts";
import { createPostgresPool, type PostgresPool } from "../../../lib/postgres/postgres-pool.ts";
import type { DurableRedis } from "../../processes/durable-redis.ts";
import type { OwnPostgres } from "../../processes/own-postgres.ts";
import type { Teardown } from "../../processes/teardown.ts";
import { runCrashReplica } from "../crash-replica.ts";
import { createIndex } from "../follower-crashes/create-index.ts";
import { until } from "../follower-crashes/until.ts";
import { checkNumbers, checkReceived } from "./check-webhooks.ts";
import { checkEvents, checkInvoices, checkKeys, checkSecrets } from "./checks.ts";
import { createCrashPoints } from "./choose-crash-points.ts";
import { startCrashChain } from "./crash-chain.ts";
import { drawMerchantSteps, type MerchantStep } from "./draw-steps.ts";
import { type PaidInvoice, type PaymentWay, payInvoice, paymentWays } from "./invoice-payer.ts";
import { createKeyBuyer } from "./key-buyer.ts";
import { type CrashMerchant, mendDisabled, openMerchants } from "./merchants.ts";
import type { PlantedFault } from "./plant-fault.ts";
import { createShop } from "./shop.ts";
import { writeConfig } from "./write-config.ts";

export type MerchantCrashFindings = {
  seed: number;
  /** What was done to apis, PostgreSQL and Redis, in order. */
  faults: string[];
  /** The named points at which an api ended itself. */
  points: Set<string>;
  orders: number;
  keys: number;
  /** Requests that receivers got, and events that they have. */
  webhooks: { requests: number; events: number };
  /** What went wrong, in words; empty where everything held. */
  broken: string[];
};

const { feeCollector } = developmentFeeSettings;
const main = new URL("crash-main.ts", import.meta.url);
const ownPrograms = [main, main];
const compileCache = join(tmpdir(), "tollgate-compile-cache");
const settleWithinMs = 120_000;
/** A fault that is planted is found sooner. */
const plantedWithinMs = 15_000;
const stepMs = 60;
const retryMs = 50;
const merchantsCount = 4;
const looksMax = 20;

/**
 * Two APIs, their PostgreSQL and their Redis are killed at named points and drawn steps, while invoices are paid in every way
 * that there is, wallets buy keys, and receivers of webhooks fail in every way that there is. In the end each order must be booked
 * as the chain has it, each paid key be issued once, and each payment have been told of, once.
 */
export async function runMerchantCrashes(
  t: Teardown,
  {
    seed,
    postgres,
    redis,
    plant = "",
    programs = ownPrograms,
  }: {
    seed: number;
    postgres: OwnPostgres;
    redis: DurableRedis;
    plant?: PlantedFault | "";
    /** The crash-main.ts of each api: those of two versions run beside each other. */
    programs?: readonly URL[];
  },
): Promise<MerchantCrashFindings> {
  const findings: MerchantCrashFindings = {
    seed,
    faults: [],
    points: new Set(),
    orders: 0,
    keys: 0,
    webhooks: { requests: 0, events: 0 },
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
  const configFile = await writeConfig(t, { postgresUrl, redisUrl: redis.url, chainUrl: chain.anvil.url });
  const crashes = createCrashPoints({ seed, findings });
  const replicas = programs.map((program, index) =>
    runCrashReplica({
      ...{ main: program, configFile, cacheFolder: compileCache, env: { CRASH_PLANT: plant } },
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
  const merchants = await retry(async () =>
    openMerchants(t, { db: pool, shop, seed, count: merchantsCount, nowUnix: await chain.now() }),
  );
  const walletOf = (way: PaymentWay) =>
    merchants[paymentWays.indexOf(way) % merchantsCount]?.wallet ?? Buffer.alloc(20);

  const invoices: PaidInvoice[] = [];
  const underWay: Promise<unknown>[] = [];
  let struck: Promise<unknown> = Promise.resolve();
  const begin = (work: Promise<unknown>) =>
    underWay.push(work.catch((error: Error) => findings.broken.push(error.message)));
  for (const step of steps) {
    if (step.act === "invoice") {
      const paying = payInvoice({ way: step.way, shop, ...chain, wallet: walletOf(step.way), retry });
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
  await chain.stopMining();
  const settle = (what: string, holds: () => Promise<boolean>) =>
    until(what, holds, { withinMs: giveUpMs, everyMs: 50 });
  const found = buyers.map((buyer) => buyer.found);
  const look = async () => [
    ...(await checkInvoices(pool, chain.rpc, invoices)),
    ...(await checkEvents(pool, chain.rpc, feeCollector)),
    ...(await checkKeys(pool, found)),
    ...(await checkSecrets(replicas, found)),
    ...(await checkNumbers(pool)),
    ...(await checkReceived(chain.rpc, merchants, invoices)),
  ];
  /** The apis go on collecting: what is seen of the chain and of the database is of one block only where none came meanwhile. */
  async function lookAtRest(): Promise<string[]> {
    for (let looks = 0; looks < looksMax; looks += 1) {
      const head = await chain.height();
      await settle(`block ${head} is booked and indexed`, () => isBooked(pool, head));
      await settle("each webhook is delivered", () => isDelivered(pool, merchants));
      const broken = await look();
      if ((await chain.height()) === head) return broken;
    }
    return ["transactions went on being sent"];
  }
  findings.broken.push(
    ...(await lookAtRest().catch(async (error: Error) => [error.message, ...(await look())])),
  );
  await stopReplicas();
  findings.orders = invoices.length;
  findings.keys = count;
  const sum = (counts: number[]) => counts.reduce((total, some) => total + some, 0);
  findings.webhooks = {
    requests: sum(merchants.map(({ receiver }) => receiver.notes.length)),
    events: sum(merchants.map(({ receiver }) => new Set(receiver.taken.map(({ body }) => body)).size)),
  };
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

/** Whether nothing waits any more; a webhook that is disabled is enabled again by its merchant. False also while PostgreSQL is away. */
async function isDelivered(pool: PostgresPool, merchants: readonly CrashMerchant[]): Promise<boolean> {
  try {
    await mendDisabled(pool, merchants);
    const { rowCount } = await pool.query(
      "select from svc.webhook_deliveries join svc.webhook_endpoints e on e.id = endpoint_id where state <> 'delivered' or disabled_at is not null limit 1",
    );
    return rowCount === 0;
  } catch {
    return false;
  }
}
