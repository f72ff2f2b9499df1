import type { ChainBlock } from "./read-range.ts";

/** About as many characters of JSON. Reading and checking them takes the process some 40 ms, while others wait. */
const charactersAimed = 4_000_000;

const perBlock = 2000;
const perTransaction = 1800;
const perLog = 600;

/**
 * How many blocks a range has: as many as fit one array, fewer where they are full, half as many after a failure, since
 * too much may have been its reason.
 */
export function createRangeSize({ blocksMax }: { blocksMax: number }) {
  let blocks = blocksMax;
  return {
    blocks: () => blocks,
    failed(): void {
      blocks = Math.max(1, Math.floor(blocks / 2));
    },
    /** Not when it was read: ranges ahead would undo what the failure of one before them had taught. */
    written(range: readonly ChainBlock[]): void {
      const fitting = Math.floor((charactersAimed * range.length) / charactersOf(range));
      blocks = Math.max(1, Math.min(fitting, 2 * blocks, blocksMax));
    },
  };
}

function charactersOf(range: readonly ChainBlock[]): number {
  let characters = perBlock * range.length;
  for (const { block, receipts } of range) {
    for (const { input } of block.transactions) characters += perTransaction + input.length;
    for (const { logs } of receipts) {
      for (const { data } of logs) characters += perLog + data.length;
    }
  }
  return characters;
}
