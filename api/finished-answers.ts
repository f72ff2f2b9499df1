import type { BlockWithHeader } from "./chain/rpc-records.ts";
import { createHeadMemo } from "./graphql/head-memo.ts";
import { consensusOf } from "./read/chain-head.ts";
import { createAnswerCache } from "./rest/answer-cache.ts";

/** The answers that REST and pages keep by URL, GraphQL's records of a head, and what each new block or range drops of them. */
export function createFinishedAnswers({ bytesMax }: { bytesMax: number }) {
  let isDevelopmentChain = true;
  let highest = -1;
  let epoch: number | undefined;
  /** Whether a block stays what it is: a development chain is reset, and its numbers come again. */
  const canBeImmutable = () => !isDevelopmentChain;
  const cache = createAnswerCache({ bytesMax, canBeImmutable });
  const memo = createHeadMemo();

  return {
    cache,
    memo,
    canBeImmutable,

    /** A block is the newest now. */
    sawBlock(block: Pick<BlockWithHeader, "number" | "extraData">): void {
      isDevelopmentChain = consensusOf(block).kind === "dev";
      // A head that is not higher than the one before is another chain's.
      if (block.number <= highest) cache.chainChanged();
      else cache.headMoved();
      memo.forget();
      highest = block.number;
    },

    /** Nothing that was made is told any more: names or ABIs have changed. */
    forget(): void {
      cache.chainChanged();
      memo.forget();
    },

    /** The index ends elsewhere now, or is another chain's. */
    sawIndex(end: { epoch: number }): void {
      if (epoch !== undefined && end.epoch !== epoch) cache.chainChanged();
      else cache.headMoved();
      memo.forget();
      epoch = end.epoch;
    },
  };
}
