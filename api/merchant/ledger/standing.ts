import type { LedgerCursor } from "./ledger-cursor.ts";
import type { LedgerMetrics } from "./metrics.ts";

export type LedgerEnd = Pick<LedgerCursor, "epoch" | "nextBlock">;

export type LedgerStanding = {
  /** Undefined before the ledger was read, or while it has not begun. */
  epoch: number | undefined;
  /** The first block that is not booked. */
  nextBlock: number | undefined;
  /** 0 at the head; undefined while the chain's head or the ledger's end is not known. */
  behindBlocks: number | undefined;
  /** How many blocks ago deposit boxes were looked at. */
  boxesBehindBlocks: number | undefined;
  /** Why nothing is booked until an operator decides: another chain, or another FeeCollector. */
  refused: string | undefined;
  /** Why it has not begun: the FeeCollector is not there yet. */
  waitsFor: string | undefined;
};

/** What a process knows of the ledger, from its own rounds. */
export function createLedgerStanding({ metrics }: { metrics: LedgerMetrics }) {
  const listeners = new Set<(end: LedgerEnd) => void>();
  let cursor: LedgerCursor | undefined;
  let head: number | undefined;
  let refused: string | undefined;
  let waitsFor: string | undefined;

  const blocksSince = (next: number | undefined) =>
    head === undefined || next === undefined ? undefined : Math.max(0, head + 1 - next);
  const boxesBehind = () => blocksSince(cursor === undefined ? undefined : cursor.boxesBlock + 1);

  function measure(): void {
    metrics.next.set(cursor?.nextBlock ?? 0);
    metrics.behind.set(blocksSince(cursor?.nextBlock) ?? 0);
    metrics.boxesBehind.set(boxesBehind() ?? 0);
    metrics.refused.set(refused === undefined ? 0 : 1);
  }

  return {
    read: (): LedgerStanding => ({
      epoch: cursor?.epoch,
      nextBlock: cursor?.nextBlock,
      behindBlocks: blocksSince(cursor?.nextBlock),
      boxesBehindBlocks: boxesBehind(),
      ...{ refused, waitsFor },
    }),
    sawHead(number: number): void {
      head = number;
      measure();
    },
    sawCursor(read: LedgerCursor): void {
      const isNews = read.epoch !== cursor?.epoch || read.nextBlock !== cursor.nextBlock;
      cursor = read;
      measure();
      if (isNews) for (const listener of listeners) listener(read);
    },
    stopped(why: { refused?: string; waitsFor?: string }): void {
      ({ refused, waitsFor } = why);
      measure();
    },
    onBooked(listener: (end: LedgerEnd) => void): () => void {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}
