import { setTimeout as sleep } from "node:timers/promises";
import { leaderLock } from "../../../api/follower/index-session.ts";
import { startCutProxy } from "../../../test/fakes/cut-proxy.ts";
import type { OwnPostgres } from "../../processes/own-postgres.ts";
import type { Teardown } from "../../processes/teardown.ts";
import type { CrashChain } from "./crash-chain.ts";
import { runCrashReplica } from "./crash-replica.ts";
import { createIndex } from "./create-index.ts";
import { drawFaults, type Fault } from "./draw-faults.ts";
import { startOwnFollower } from "./own-follower.ts";
import { differences, readIndex } from "./read-index.ts";
import { until } from "./until.ts";

export type FollowerCrashFindings = {
  seed: number;
  blocks: number;
  /** The faults that happened, in order. */
  faults: Fault[];
  /** The differences from a fresh backfill; empty where there are none. */
  broken: string[];
};

/** Generous, since test machines can be slow; a wait that is longer has failed. */
const settleWithinMs = 120_000;
const cutMs = 100;
/** After so many blocks without a fault no other fault will come. */
const quietBlocks = 80;

/**
 * Kills two followers of one index and their PostgreSQL with SIGKILL, cuts their chain off or takes it back, at points
 * that the seed draws, while blocks come. In the end every row must equal a fresh backfill's. With every other seed the
 * two share no lock, so that both write all the time.
 */
export async function runFollowerCrashes(
  t: Teardown,
  { seed, postgres, chain }: { seed: number; postgres: OwnPostgres; chain: CrashChain },
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
    // A follower on standby may hold a fault whose point it never reaches.
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
    await until("the faults have come", haveFaultsCome, {
      withinMs: settleWithinMs,
      everyMs: 50,
    }).catch((error: Error) => findings.broken.push(error.message));
    await mining.stop();
    findings.blocks = await chain.height();
    await until("all blocks are indexed", () => isIndexed(postgresUrl, findings.blocks), {
      withinMs: settleWithinMs,
      everyMs: 50,
    }).catch((error: Error) => findings.broken.push(error.message));
  } finally {
    await mining.stop();
    await strikes;
    for (const replica of replicas) await replica.stop();
  }
  const fresh = await startOwnFollower(t, { url: chain.url, postgresUrl: freshUrl });
  await fresh.indexed(findings.blocks);
  await fresh.stop();
  findings.broken.push(...differences(await readIndex(postgresUrl), await readIndex(freshUrl)));
  return findings;
}

/** False also while PostgreSQL is away. */
async function isIndexed(postgresUrl: string, height: number): Promise<boolean> {
  try {
    const { follower } = await readIndex(postgresUrl);
    return Number(follower[0]?.["next"] ?? 0) > height;
  } catch {
    return false;
  }
}
