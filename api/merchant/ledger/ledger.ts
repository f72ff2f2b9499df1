import type { Logger } from "pino";
import type { Registry } from "prom-client";
import type { RpcClient } from "../../../lib/chain/rpc-client.ts";
import { createPostgresPool } from "../../../lib/postgres/postgres-pool.ts";
import { createFollowLoop } from "../../follower/follow-loop.ts";
import type { HeadWatch } from "../../follower/head-watch.ts";
import type { BookedRange } from "./book-range.ts";
import type { PlacedFeeEvent } from "./fee-events.ts";
import type { LedgerPoint } from "./ledger-point.ts";
import { createLedgerRound } from "./ledger-round.ts";
import { createLedgerMetrics } from "./metrics.ts";
import { createLedgerStanding } from "./standing.ts";

export type Ledger = ReturnType<typeof createLedger>;

export type LedgerOptions = {
  /** The gateway, with a service key. */
  rpc: Pick<RpcClient, "ask" | "askAll">;
  /** Of the same chain. It is started and stopped by whoever made it. */
  heads: Pick<HeadWatch, "onHead">;
  postgresUrl: string;
  /** Its address. */
  feeCollector: string;
  /** Where customers reach this site. */
  publicUrl: string;
  registry: Registry;
  logger: Logger;
  /** Another chain begins an epoch by itself only where this is true. */
  isDevelopment: boolean;
  /** An operator's word that another chain, or another FeeCollector, is to be followed from now on; once. */
  adoptChain?: boolean;
  /** How often the chain is asked besides what `heads` tells. */
  pollMs?: number;
  rangeBlocksMax?: number;
  /** Deposit boxes that are looked at; of more those whose watch ends first are left out. */
  boxesMax?: () => number;
  /** After a failure; doubled with each one more in a row. */
  retryMinMs?: number;
  monotonicMs?: () => number;
  atPoint?: (point: LedgerPoint) => void | Promise<void>;
};

/** A range with many payments. */
const statementTimeoutMs = 30_000;

/**
 * Books each payment of an order exactly once: follows the FeeCollector's events and what lies in deposit boxes, range by
 * range, each in the transaction that moves the cursor. Any number of processes do so at the same time without a leader; of
 * those that read the same range one books it. No failure books a part of a range, and none ends the process.
 */
export function createLedger({
  rpc,
  heads,
  postgresUrl,
  feeCollector,
  publicUrl,
  registry,
  logger,
  isDevelopment,
  adoptChain = false,
  pollMs = 2000,
  rangeBlocksMax = 1000,
  boxesMax = () => 10_000,
  retryMinMs = 250,
  monotonicMs = () => performance.now(),
  atPoint = () => {},
}: LedgerOptions) {
  const metrics = createLedgerMetrics(registry);
  const standing = createLedgerStanding({ metrics });
  const pool = createPostgresPool({
    ...{ url: postgresUrl, name: "api ledger", logger },
    ...{ connectionsMax: 2, statementTimeoutMs },
  });
  let unsubscribe = () => {};

  const ledger = createLedgerRound({
    ...{ rpc, pool, logger, isDevelopment, adoptChain, rangeBlocksMax, boxesMax, publicUrl, atPoint },
    feeCollector: feeCollector.toLowerCase(),
    onHead: standing.sawHead,
    onCursor: standing.sawCursor,
    onStopped(why) {
      const { refused, waitsFor } = standing.read();
      if (why.refused !== undefined && why.refused !== refused) {
        logger.error({ reason: why.refused }, "nothing is booked: --adopt-chain follows another chain");
      }
      if (why.waitsFor !== undefined && why.waitsFor !== waitsFor) {
        logger.warn({ reason: why.waitsFor }, "no payments are followed yet");
      }
      standing.stopped(why);
    },
    onBoxes: (count) => metrics.boxes.set(count),
    onBooked: (booked) => tellBooked({ booked, metrics, logger }),
  });
  const loop = createFollowLoop({
    round: ledger.round,
    isLeader: () => true,
    onFailure: () => metrics.failures.inc(),
    texts: { fails: "payments cannot be booked", isOver: "payments are booked again" },
    ...{ pollMs, retryMinMs, logger, monotonicMs },
  });

  return {
    /** After the migrations. */
    start(): void {
      unsubscribe = heads.onHead(({ number }) => {
        standing.sawHead(number);
        loop.wake();
      });
      loop.start();
    },

    standing: standing.read,

    /** Why nothing can be bought: payments would not be seen, or not be sent at all. */
    problem(): string | undefined {
      const { refused, waitsFor, epoch } = standing.read();
      return refused ?? waitsFor ?? (epoch === undefined ? "payments are not followed yet" : undefined);
    },

    /** Tells how far is booked, by whichever process, as soon as this one knows. @returns what ends the telling. */
    onBooked: standing.onBooked,

    async stop(): Promise<void> {
      unsubscribe();
      await loop.stop();
      await pool.end();
    },
  };
}

function tellBooked({
  booked: { payments, mismatches, unknown },
  metrics,
  logger,
}: {
  booked: BookedRange;
  metrics: ReturnType<typeof createLedgerMetrics>;
  logger: Pick<Logger, "info" | "warn" | "error">;
}): void {
  metrics.rounds.inc();
  for (const { orderId, way, amount, block } of payments) {
    metrics.payments.inc({ way });
    logger.info({ orderId, way, amountWei: String(amount), block: block.number }, "a payment was booked");
  }
  const placeOf = ({ id, txHash, block }: PlacedFeeEvent) => ({ idOnChain: id, txHash, block: block.number });
  for (const event of unknown) {
    metrics.refusedEvents.inc({ reason: "unknown" });
    logger.warn(placeOf(event), "a payment is of no order of this database, and is not booked");
  }
  for (const { event, why } of mismatches) {
    metrics.refusedEvents.inc({ reason: "mismatch" });
    logger.error({ ...placeOf(event), why }, "a payment is not what its order says, and is not booked");
  }
}
