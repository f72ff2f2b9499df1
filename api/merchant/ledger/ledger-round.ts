import { type AlignLedgerOptions, createAlignLedger } from "./align-ledger.ts";
import { type BlockHeader, ChainEvidenceError, readBlockHeaders } from "./block-headers.ts";
import type { Sighting } from "./book-order.ts";
import { type BookedRange, bookRange } from "./book-range.ts";
import { readBoxArrivals } from "./box-arrivals.ts";
import { readFeeEvents } from "./fee-events.ts";
import { findTransfers } from "./find-transfers.ts";
import type { LedgerCursor } from "./ledger-cursor.ts";
import type { LedgerPoint } from "./ledger-point.ts";
import { readWatchedBoxes } from "./watched-boxes.ts";

/** A node that has no state of a block so near to the head is broken or behind; further back it has forgotten it. */
const stateBlocksMin = 256;

export type LedgerRoundOptions = AlignLedgerOptions & {
  /** Blocks that one round books. */
  rangeBlocksMax: number;
  boxesMax: () => number;
  publicUrl: string;
  atPoint: (point: LedgerPoint) => void | Promise<void>;
  onHead: (number: number) => void;
  onCursor: (cursor: LedgerCursor) => void;
  onStopped: (why: { refused?: string; waitsFor?: string }) => void;
  onBoxes: (count: number) => void;
  onBooked: (booked: BookedRange) => void;
};

/**
 * One round of the ledger: where it stands, what a range of blocks says, and one transaction that books it. It asks all that
 * it needs before that transaction begins, so no lock is held while the chain is waited for.
 */
export function createLedgerRound(options: LedgerRoundOptions) {
  const { rpc, pool, feeCollector, rangeBlocksMax, boxesMax, publicUrl, atPoint } = options;
  const align = createAlignLedger(options);
  /** Halved by a failure: too much may have been its reason. */
  let rangeBlocks = rangeBlocksMax;

  async function readRange(from: LedgerCursor, head: BlockHeader) {
    const first = from.nextBlock;
    const last = Math.min(head.number, first + rangeBlocks - 1);
    const headers = await readBlockHeaders({ rpc, first, last, parentHash: from.lastHash });
    const end = headers.at(-1);
    if (end === undefined) throw new ChainEvidenceError("a range without blocks");
    const events = await readFeeEvents({ rpc, feeCollector, headers });
    const boxes = await readWatchedBoxes(pool, { cursor: from, boxesMax: boxesMax() });
    options.onBoxes(boxes.length);
    const arrivals = await readBoxArrivals({ rpc, boxes, headers, events });
    if (arrivals === undefined && head.number - end.number < stateBlocksMin) {
      throw new ChainEvidenceError(`the node has no state of block ${end.number}`);
    }
    const sightings = new Map<string, Sighting[]>();
    const add = (id: string, sighting: Sighting) =>
      sightings.set(id, [...(sightings.get(id) ?? []), sighting]);
    for (const event of events) add(event.id, { event });
    const transfers = await findTransfers(rpc, arrivals ?? []);
    for (const arrival of arrivals ?? []) {
      const { txHash = null, payer = null } = transfers.get(arrival) ?? {};
      add(arrival.id, { ...arrival, txHash, payer });
    }
    const to: LedgerCursor = {
      ...from,
      ...{ nextBlock: end.number + 1, lastHash: end.hash, lastBlockAt: end.timestamp },
      ...(arrivals === undefined ? {} : { boxesBlock: end.number, boxesAt: end.timestamp }),
    };
    return { from, to, sightings };
  }

  async function round(): Promise<boolean> {
    const start = await align();
    if (start === undefined) return true;
    if (!("cursor" in start)) {
      options.onStopped(start);
      return false;
    }
    options.onStopped({});
    const { cursor, head } = start;
    options.onHead(head.number);
    options.onCursor(cursor);
    if (cursor.nextBlock > head.number) return false;
    const range = await readRange(cursor, head);
    await atPoint("read");
    const booked = await bookRange({ pool, range, publicUrl, atPoint });
    if (booked === undefined) return true;
    options.onCursor(range.to);
    options.onBooked(booked);
    await atPoint("booked");
    return range.to.nextBlock <= head.number;
  }

  return {
    /** @returns whether there is more to do at once. @throws whatever keeps it from booking; the next call begins anew. */
    async round(): Promise<boolean> {
      try {
        const goesOn = await round();
        rangeBlocks = Math.min(2 * rangeBlocks, rangeBlocksMax);
        return goesOn;
      } catch (error) {
        rangeBlocks = Math.max(1, Math.floor(rangeBlocks / 2));
        throw error;
      }
    },
  };
}
