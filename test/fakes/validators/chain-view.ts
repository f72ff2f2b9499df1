import type { ChainBlock } from "./besu-blocks.ts";
import type { SharedChain } from "./shared-chain.ts";

export type ChainView = ReturnType<typeof createChainView>;

/**
 * How much of the shared chain one validator has. Its height is what it imported less the lag that a test asked for;
 * `imported` hears of each block once, in order, when the height first reaches it.
 */
export function createChainView({
  chain,
  imported,
}: {
  chain: SharedChain;
  imported: (block: ChainBlock) => void;
}) {
  let tip = chain.height();
  let lagBlocks = 0;
  let frozen = false;
  let importDelayMs = 0;
  let announcedUpTo = tip;
  let timers = new Set<NodeJS.Timeout>();

  const height = () => Math.max(0, tip - lagBlocks);

  function catchUp(): void {
    if (!frozen) tip = chain.height();
    announce();
  }

  function announce(): void {
    while (announcedUpTo < height()) {
      announcedUpTo += 1;
      const block = chain.block(announcedUpTo);
      if (block !== undefined) imported(block);
    }
  }

  function importBlock(block: ChainBlock): void {
    if (frozen) return;
    tip = Math.max(tip, Math.min(block.number, chain.height()));
    announce();
  }

  function clearTimers(): void {
    for (const timer of timers) clearTimeout(timer);
    timers = new Set();
  }

  chain.listen({
    block(block) {
      if (importDelayMs === 0) return importBlock(block);
      const timer = setTimeout(() => {
        timers.delete(timer);
        importBlock(block);
      }, importDelayMs);
      timers.add(timer);
    },
    rewound(newHeight) {
      clearTimers();
      tip = Math.min(tip, newHeight);
      announcedUpTo = Math.min(announcedUpTo, height());
    },
  });

  return {
    height,
    /** Shows the chain `blocks` behind what it has: at once, so its height may go back. */
    lag(blocks: number): void {
      lagBlocks = blocks;
      announce();
    },
    /** Imports nothing any more: the height stays where it is. */
    freeze: () => {
      frozen = true;
    },
    thaw(): void {
      frozen = false;
      catchUp();
    },
    delayImports(delayMs: number): void {
      importDelayMs = delayMs;
      if (delayMs === 0) {
        clearTimers();
        catchUp();
      }
    },
    /** The block at `number` if this validator has it. */
    block: (number: number) => (number <= height() ? chain.block(number) : undefined),
    blockByHash(hash: string): ChainBlock | undefined {
      const number = chain.blockNumberOf(hash);
      return number === undefined || number > height() ? undefined : chain.block(number);
    },
    transaction(hash: string) {
      const found = chain.transaction(hash);
      return found === undefined || found.block.number > height() ? undefined : found;
    },
    stop: clearTimers,
  };
}
