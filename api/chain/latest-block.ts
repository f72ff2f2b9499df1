import type { Logger } from "pino";
import type { HeadWatch } from "../follower/head-watch.ts";
import type { ChainReader } from "./chain-reader.ts";
import type { BlockWithHeader } from "./rpc-records.ts";

export type LatestBlock = {
  /** Undefined until the chain has answered once. */
  block(): BlockWithHeader | undefined;
  stop(): void;
};

/** Keeps the newest block whole: of each head that is told, the block is asked for once, for everybody. */
export function keepLatestBlock({
  reader,
  heads,
  onBlock,
  logger,
}: {
  reader: ChainReader;
  heads: Pick<HeadWatch, "onHead">;
  /** A block that is the newest now; after a reset it may be lower than the one before. */
  onBlock: (block: BlockWithHeader) => void;
  logger: Pick<Logger, "warn">;
}): LatestBlock {
  let latest: BlockWithHeader | undefined;
  let asking: Promise<void> | undefined;
  let toldMeanwhile = false;

  async function look(): Promise<void> {
    try {
      const block = await reader.block("latest");
      if (block === undefined || block.hash === latest?.hash) return;
      latest = block;
      onBlock(block);
    } catch (error) {
      logger.warn({ err: error }, "the newest block cannot be read");
    }
  }

  function lookSoon(): void {
    toldMeanwhile = asking !== undefined;
    asking ??= look().finally(() => {
      asking = undefined;
      if (toldMeanwhile) lookSoon();
    });
  }

  return { block: () => latest, stop: heads.onHead(lookSoon) };
}
