import type { Logger } from "pino";
import type { Registry } from "prom-client";
import type { RpcClient } from "../../lib/chain/rpc-client.ts";
import { createPostgresPool } from "../../lib/postgres/postgres-pool.ts";
import { createBackfillLog } from "./backfill-log.ts";
import type { BurnContract } from "./burns.ts";
import { createCompleteRange } from "./complete-range.ts";
import { createFollowLoop } from "./follow-loop.ts";
import type { FollowPoint } from "./follow-point.ts";
import { createFollowRound } from "./follow-round.ts";
import type { HeadWatch } from "./head-watch.ts";
import { leaderLock, startIndexSession } from "./index-session.ts";
import { createFollowerMetrics } from "./metrics.ts";
import { createSealReader } from "./seal-reader.ts";
import { createIndexStanding } from "./standing.ts";

export type Follower = ReturnType<typeof createFollower>;

export type FollowerOptions = {
  /** The gateway, with a service key; each array has at most 100 calls. */
  rpc: Pick<RpcClient, "ask" | "askAll">;
  /** Of the same chain. It is started and stopped by whoever made it. */
  heads: Pick<HeadWatch, "head" | "onHead">;
  /** The validators' own addresses, which show their seals; with short timeouts. */
  validators?: readonly Pick<RpcClient, "askAll">[];
  postgresUrl: string;
  registry: Registry;
  logger: Logger;
  /** Another chain empties the index only where this is true. */
  isDevelopment: boolean;
  /** An operator's word that another chain may empty the index, once. */
  adoptChain?: boolean;
  /** What pays the platform's fees. */
  burnContracts?: readonly BurnContract[];
  /** How often the chain is asked besides what `heads` tells. */
  pollMs?: number;
  arrayBlocksMax?: number;
  arraysAhead?: number;
  /** How many of the chain's last blocks have their seals recovered. */
  sealedBlocksMax?: number;
  /** How often PostgreSQL is asked where the index ends, and for the lock. */
  sessionPollMs?: number;
  /** After a failure; doubled with each one more in a row. */
  retryMinMs?: number;
  /** Followers of different locks write at the same time. */
  lock?: bigint;
  monotonicMs?: () => number;
  atPoint?: (point: FollowPoint) => void | Promise<void>;
};

/** A range of the largest blocks. */
const statementTimeoutMs = 30_000;

/**
 * Copies the chain into PostgreSQL, from block 0 to the head and on, as `../postgres/migrations` lays it out. Of several
 * processes one writes; all of them know where the index ends. What the chain or PostgreSQL do, it goes on trying: no
 * failure leaves a part of a block there, and none ends the process.
 */
export function createFollower({
  rpc,
  heads,
  validators = [],
  postgresUrl,
  registry,
  logger,
  isDevelopment,
  adoptChain = false,
  burnContracts = [],
  pollMs = 2000,
  arrayBlocksMax = 50,
  arraysAhead = 3,
  sealedBlocksMax = 10_000,
  sessionPollMs = 1000,
  retryMinMs = 250,
  lock = leaderLock,
  monotonicMs = () => performance.now(),
  atPoint = () => {},
}: FollowerOptions) {
  const metrics = createFollowerMetrics(registry);
  const standing = createIndexStanding({ metrics });
  const pool = createPostgresPool({
    url: postgresUrl,
    name: "api follower's writes",
    logger,
    connectionsMax: 2,
    statementTimeoutMs,
  });
  let session: ReturnType<typeof startIndexSession> | undefined;
  let unsubscribe = () => {};

  const loop = createFollowLoop({
    round: () => follow.round(),
    isLeader: () => session?.isLeader() === true,
    onFailure: () => metrics.failures.inc(),
    pollMs,
    retryMinMs,
    texts: {
      fails: "the index cannot be brought to the chain's head",
      isOver: "the index follows the chain again",
    },
    logger,
    monotonicMs,
  });
  const follow = createFollowRound({
    rpc,
    pool,
    logger,
    arrayBlocksMax,
    arraysAhead,
    pollMs,
    isDevelopment,
    adoptChain,
    goesOn: loop.goesOn,
    monotonicMs,
    atPoint,
    seals: createSealReader({ validators, blocksMax: sealedBlocksMax, logger, monotonicMs }),
    completeRange: createCompleteRange({ rpc, pool, burnContracts }),
    backfillLog: createBackfillLog({ logger, monotonicMs }),
    onRow: standing.written,
    onHead: standing.sawHead,
    onRefused: createRefusalLog({ standing, logger }),
  });

  return {
    start(): void {
      session = startIndexSession({
        url: postgresUrl,
        lock,
        pollMs: sessionPollMs,
        logger,
        beginRead: standing.beginRead,
        onNews: standing.news,
        onConnected: standing.connected,
        onLeader(isLeader) {
          standing.leads(isLeader);
          loop.wake();
        },
      });
      unsubscribe = heads.onHead(({ number }) => {
        standing.sawHead(number);
        loop.wake();
      });
      loop.start();
    },

    standing: standing.read,

    /** Tells of each change of where the index ends, also by other processes. @returns what ends the telling. */
    onIndexed: standing.onIndexed,

    async stop(): Promise<void> {
      unsubscribe();
      await loop.stop();
      // A round that still waits for the chain writes nothing any more: it has no pool.
      await session?.stop();
      await pool.end();
    },
  };
}

/** Says why another chain's index stays, once. */
function createRefusalLog({
  standing,
  logger,
}: {
  standing: Pick<ReturnType<typeof createIndexStanding>, "read" | "refused">;
  logger: Logger;
}) {
  return (reason: string | undefined): void => {
    if (reason !== undefined && reason !== standing.read().refused) {
      logger.error(
        { reason },
        "the index belongs to another chain: --adopt-chain empties it and begins anew",
      );
    }
    standing.refused(reason);
  };
}
