import { setTimeout as sleep } from "node:timers/promises";
import { pino } from "pino";
import { leaderLock } from "../../../api/follower/index-session.ts";
import { migrate } from "../../../lib/postgres/migrate.ts";
import { connectPostgres } from "../../../lib/postgres/postgres-connection.ts";
import { differences, readIndex } from "../../../test/api/follower/support/read-index.ts";
import { startFollower } from "../../../test/api/follower/support/start-follower.ts";
import { startCutProxy } from "../../../test/fakes/cut-proxy.ts";
import { apiMigrations, type PostgresUnderTest } from "../../../test/helpers/postgres.ts";
import { waitFor } from "../../../test/helpers/wait-for.ts";
import type { Teardown } from "../../processes/teardown.ts";
import type { CrashChain } from "./crash-chain.ts";
import { runCrashReplica } from "./crash-replica.ts";
import { drawFaults, type Fault } from "./draw-faults.ts";

export type FollowerCrashFindings = {
  seed: number;
  blocks: number;
  /** What was done, in order. */
  faults: Fault[];
  /** What differs from a fresh backfill; empty where nothing does. */
  broken: string[];
};

const logger = pino({ level: "silent" });
/** Machines that run tests can be slow; what takes longer is lost. */
const settleWithinMs = 120_000;
const cutMs = 100;
/** So many blocks without a fault, and those that are left will not come. */
const quietBlocks = 80;

/**
 * Two followers of one index are killed with SIGKILL, their PostgreSQL too, their chain is cut off or taken back, at
 * points that the seed draws, while blocks come. In the end every row has to equal those of a fresh backfill. In every
 * other seed the two have no lock between them, so that both write all the time.
 */
export async function runFollowerCrashes(
  t: Teardown,
  { seed, postgres, chain }: { seed: number; postgres: PostgresUnderTest; chain: CrashChain },
): Promise<FollowerCrashFindings> {
  const findings: FollowerCrashFindings = { seed, blocks: 0, faults: [], broken: [] };
  const [postgresUrl, freshUrl, proxy, mining] = await Promise.all([
    createIndex(postgres.url, `seed_${seed}`),
    createIndex(postgres.url, `seed_${seed}_fresh`),
    startCutProxy(t, { port: chain.port }),
    chain.keepMining(seed),
  ]);
  const faults = drawFaults(seed);
  const drawn = faults.length;
  let strikes: Promise<unknown> = Promise.resolve();
  let struckAt = await chain.height();

  async function strike(fault: Fault): Promise<void> {
    findings.faults.push(fault);
    if (fault.what === "postgres") {
      await postgres.kill();
      await postgres.restart();
    } else if (fault.what === "cut") {
      proxy.set("cut");
      await sleep(cutMs);
      proxy.set("open");
    } else if (fault.what === "revert") await mining.takeBack();
    struckAt = await chain.height();
  }

  async function haveFaultsCome(): Promise<boolean> {
    const height = await chain.height();
    // A follower that stands by keeps one that never comes.
    const isOver = findings.faults.length >= drawn - 1 || height - struckAt > quietBlocks;
    return isOver && isIndexed(postgresUrl, height);
  }

  const replicas = [0n, 1n].map((index) =>
    runCrashReplica({
      postgresUrl,
      chainUrl: proxy.url,
      lock: seed % 2 === 0 ? leaderLock : leaderLock + index,
      nextFault: () => faults.shift(),
      strike(fault) {
        const struck = strikes.then(() => strike(fault));
        strikes = struck.catch(() => {});
        return struck;
      },
    }),
  );
  try {
    await waitFor("the faults have come", haveFaultsCome, {
      withinMs: settleWithinMs,
      everyMs: 50,
    }).catch((error: Error) => findings.broken.push(error.message));
    await mining.stop();
    findings.blocks = await chain.height();
    await waitFor("all blocks are indexed", () => isIndexed(postgresUrl, findings.blocks), {
      withinMs: settleWithinMs,
      everyMs: 50,
    }).catch((error: Error) => findings.broken.push(error.message));
  } finally {
    await mining.stop();
    await strikes;
    for (const replica of replicas) await replica.stop();
  }
  const fresh = await startFollower(t, { url: chain.url, postgresUrl: freshUrl });
  await fresh.indexed(findings.blocks);
  await fresh.stop();
  findings.broken.push(...differences(await readIndex(postgresUrl), await readIndex(freshUrl)));
  return findings;
}

async function createIndex(serverUrl: string, name: string): Promise<string> {
  const admin = await connectPostgres({ url: serverUrl, name: "soak", logger });
  try {
    await admin.query(`create database ${name}`);
  } finally {
    await admin.end();
  }
  const url = new URL(serverUrl);
  url.pathname = `/${name}`;
  await migrate({ url: url.href, folder: apiMigrations, logger });
  return url.href;
}

/** Also where PostgreSQL is away at the moment: then it is not. */
async function isIndexed(postgresUrl: string, height: number): Promise<boolean> {
  try {
    const { follower } = await readIndex(postgresUrl);
    return Number(follower[0]?.["next"] ?? 0) > height;
  } catch {
    return false;
  }
}
