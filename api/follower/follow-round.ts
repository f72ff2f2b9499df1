import type { Logger } from "pino";
import type { PostgresPool } from "../../lib/postgres/postgres-pool.ts";
import type { BackfillLog } from "./backfill-log.ts";
import type { createCompleteRange } from "./complete-range.ts";
import type { BlockConsensus } from "./consensus-of.ts";
import type { FollowPoint } from "./follow-point.ts";
import { beginIndex, emptyIndex, type IndexRow, readIndexRow } from "./index-row.ts";
import { createRangeSize } from "./range-size.ts";
import { readAhead } from "./read-ahead.ts";
import { type AskAll, BrokenChainError, type ChainBlock, readRange } from "./read-range.ts";
import { otherChain, viewChain } from "./same-chain.ts";
import type { SealReader } from "./seal-reader.ts";
import { writeRange } from "./write-range.ts";

export type FollowRoundOptions = {
  rpc: AskAll;
  pool: PostgresPool;
  seals: SealReader;
  completeRange: ReturnType<typeof createCompleteRange>;
  backfillLog: BackfillLog;
  logger: Pick<Logger, "warn" | "error">;
  arrayBlocksMax: number;
  arraysAhead: number;
  /** How often the chain is looked at for whether it is still the same. */
  pollMs: number;
  /** Whether the index may be emptied for another chain without being told to. */
  isDevelopment: boolean;
  /** Told to: once. */
  adoptChain: boolean;
  goesOn: () => boolean;
  monotonicMs: () => number;
  atPoint: (point: FollowPoint) => void | Promise<void>;
  onRow: (row: IndexRow) => void;
  onHead: (number: number) => void;
  onRefused: (reason: string | undefined) => void;
};

/**
 * Brings the index to the chain's head: `round` looks whether the chain is the one that is indexed, empties the index
 * where it is another, and adds ranges until the head is reached. It answers whether there is more to do at once, and
 * throws whatever keeps it from doing it; the next call begins where the index then ends.
 */
export function createFollowRound(options: FollowRoundOptions) {
  const { rpc, pool, seals, completeRange, logger, arraysAhead, pollMs, isDevelopment } = options;
  const { goesOn, monotonicMs, atPoint, onRow, onHead, onRefused } = options;
  const size = createRangeSize({ blocksMax: options.arrayBlocksMax });
  let mayAdopt = options.adoptChain;
  let head = 0;

  /** The index's end, once it is known to belong to the chain. */
  async function align(): Promise<IndexRow | "refused" | "overtaken"> {
    let row = await readIndexRow(pool);
    const view = await viewChain(rpc, row);
    head = view.head.number;
    onHead(head);
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
  }

  async function read(first: number, last: number) {
    const blocks = await readRange({ rpc, first, last });
    const consensus = await seals.read(blocks, Math.max(head, last));
    await atPoint("read");
    return { blocks, consensus };
  }

  async function write(
    row: IndexRow,
    { blocks, consensus }: { blocks: readonly ChainBlock[]; consensus: readonly BlockConsensus[] },
  ): Promise<IndexRow | undefined> {
    const first = blocks[0]?.block;
    if (first === undefined) return row;
    const follows = first.number === 0 ? first.hash === row.genesisHash : first.parentHash === row.lastHash;
    if (!follows) throw new BrokenChainError(`block ${first.number} does not follow the index's last`);
    const range = await completeRange.complete({ blocks, consensus, epoch: row.epoch });
    await atPoint("before write");
    if (!goesOn()) return undefined;
    const written = await writeRange({ pool, row, range, atPoint });
    if (written === undefined) return undefined;
    completeRange.keep(range, row.epoch);
    size.written(blocks);
    onRow(written);
    await atPoint("written");
    return written;
  }

  async function round(): Promise<boolean> {
    const start = await align();
    if (typeof start === "string") return start === "overtaken";
    let row: IndexRow | undefined = start;
    let lookedAtMs = monotonicMs();
    const ranges = readAhead({
      first: row.next,
      last: () => head,
      ahead: arraysAhead,
      blocks: size.blocks,
      read,
    });
    for await (const range of ranges) {
      row = goesOn() ? await write(row, range) : undefined;
      if (row === undefined) return true;
      options.backfillLog.at({ next: row.next, head });
      if (monotonicMs() - lookedAtMs < pollMs) continue;
      const aligned = await align();
      if (typeof aligned === "string" || aligned.epoch !== row.epoch || aligned.next !== row.next)
        return true;
      lookedAtMs = monotonicMs();
    }
    return false;
  }

  return {
    async round(): Promise<boolean> {
      try {
        return await round();
      } catch (error) {
        size.failed();
        throw error;
      }
    },
  };
}
