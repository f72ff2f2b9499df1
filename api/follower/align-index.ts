import type { Logger } from "pino";
import type { PostgresPool } from "../../lib/postgres/postgres-pool.ts";
import type { FollowPoint } from "./follow-point.ts";
import { beginIndex, emptyIndex, type IndexRow, readIndexRow } from "./index-row.ts";
import type { AskAll } from "./read-range.ts";
import { otherChain, viewChain } from "./same-chain.ts";

export type AlignOptions = {
  rpc: AskAll;
  pool: PostgresPool;
  logger: Pick<Logger, "warn">;
  /** Whether the index may be emptied for another chain without being told to. */
  isDevelopment: boolean;
  /** Told to: once. */
  adoptChain: boolean;
  atPoint: (point: FollowPoint) => void | Promise<void>;
  onRow: (row: IndexRow) => void;
  onHead: (number: number) => void;
  onRefused: (reason: string | undefined) => void;
};

/**
 * Finds the index's end and makes sure that it belongs to the chain: a new index is begun, one of another chain is
 * emptied where that is allowed.
 */
export function createAlignIndex(options: AlignOptions) {
  const { rpc, pool, logger, isDevelopment, atPoint, onRow, onHead, onRefused } = options;
  let mayAdopt = options.adoptChain;

  /** @returns the index's end; "refused": another chain's index stays; "overtaken": another process writes. */
  return async (): Promise<IndexRow | "refused" | "overtaken"> => {
    let row = await readIndexRow(pool);
    const view = await viewChain(rpc, row);
    onHead(view.head.number);
    if (row === undefined) {
      await beginIndex(pool, view.genesis.hash);
      row = await readIndexRow(pool);
    }
    if (row === undefined) return "overtaken";
    onRow(row);
    const reason = await otherChain({ pool, row, view });
    if (reason === undefined) {
      mayAdopt = false;
      onRefused(undefined);
      return row;
    }
    if (!isDevelopment && !mayAdopt) {
      onRefused(reason);
      return "refused";
    }
    const emptied = await emptyIndex({ pool, row, genesisHash: view.genesis.hash });
    if (emptied === undefined) return "overtaken";
    logger.warn({ reason, epoch: emptied.epoch }, "the index was emptied for another chain");
    mayAdopt = false;
    onRefused(undefined);
    onRow(emptied);
    await atPoint("emptied");
    return emptied;
  };
}
