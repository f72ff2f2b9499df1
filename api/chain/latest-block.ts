import type { Logger } from "pino";
import type { HeadWatch } from "../follower/head-watch.ts";
import type { ChainReader } from "./chain-reader.ts";
import type { BlockWithHeader } from "./rpc-records.ts";

export type LatestBlock = {
  /** Undefined until the chain has answered once. */
  block(): BlockWithHeader | undefined;
  stop(): void;
};

/** The head may be the last for long: a block that could not be read is asked for again. */
const retryAfterMs = 1000;

/** Keeps the newest block whole: of each head that is told, the block is asked for once, for everybody. */
export function keepLatestBlock({
  reader,
  heads,
  onBlock,
  logger,
  retryMs = retryAfterMs,
}: {
  reader: Pick<ChainReader, "block">;
  heads: Pick<HeadWatch, "onHead">;
  /** A block that is the newest now; after a reset it may be lower than the one before. */
  onBlock: (block: BlockWithHeader) => void;
  logger: Pick<Logger, "warn">;
  retryMs?: number;
}): LatestBlock {
  let latest: BlockWithHeader | undefined;
  let asking: Promise<void> | undefined;
  let toldMeanwhile = false;
  let isStopped = false;
  let retry: NodeJS.Timeout | undefined;

  async function look(): Promise<void> {
    try {
      const block = await reader.block("latest");
      if (isStopped || block === undefined || block.hash === latest?.hash) return;
      latest = block;
      onBlock(block);
    } catch (error) {
      if (isStopped) return;
      logger.warn({ err: error }, "the newest block cannot be read");
      clearTimeout(retry);
      retry = setTimeout(lookSoon, retryMs).unref();
    }
  }

  function lookSoon(): void {
    toldMeanwhile = asking !== undefined;
    asking ??= look().finally(() => {
      asking = undefined;
      if (toldMeanwhile) lookSoon();
    });
  }

  const unsubscribe = heads.onHead(lookSoon);
  return {
    block: () => latest,
    stop() {
      isStopped = true;
      clearTimeout(retry);
      unsubscribe();
    },
  };
}
