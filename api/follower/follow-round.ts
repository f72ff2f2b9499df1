import { type AlignOptions, createAlignIndex } from "./align-index.ts";
import type { BackfillLog } from "./backfill-log.ts";
import type { createCompleteRange } from "./complete-range.ts";
import type { BlockConsensus } from "./consensus-of.ts";
import type { IndexRow } from "./index-row.ts";
import { createRangeSize } from "./range-size.ts";
import { readAhead } from "./read-ahead.ts";
import { BrokenChainError, type ChainBlock, readRange } from "./read-range.ts";
import type { SealReader } from "./seal-reader.ts";
import { writeRange } from "./write-range.ts";

export type FollowRoundOptions = AlignOptions & {
  seals: SealReader;
  completeRange: ReturnType<typeof createCompleteRange>;
  backfillLog: BackfillLog;
  arrayBlocksMax: number;
  arraysAhead: number;
  /** How often the chain is looked at for whether it is still the same. */
  pollMs: number;
  goesOn: () => boolean;
  monotonicMs: () => number;
};

/**
 * Brings the index to the chain's head: `round` looks whether the chain is the one that is indexed, empties the index
 * where it is another, and adds ranges until the head is reached. It answers whether there is more to do at once, and
 * throws whatever keeps it from doing it; the next call begins where the index then ends.
 */
export function createFollowRound(options: FollowRoundOptions) {
  const { rpc, pool, seals, completeRange, arraysAhead, pollMs, goesOn, monotonicMs, atPoint, onRow } =
    options;
  const size = createRangeSize({ blocksMax: options.arrayBlocksMax });
  let head = 0;
  const align = createAlignIndex({
    ...options,
    onHead(number) {
      head = number;
      options.onHead(number);
    },
  });

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
