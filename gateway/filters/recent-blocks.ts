import { readBloom } from "../../lib/chain/log-bloom.ts";
import type { AskChain } from "../subscriptions/ask-chain.ts";
import type { NewHead } from "../upstream/head/publish-heads.ts";
import { readHash } from "../upstream/head/read-header.ts";
import type { Upstream } from "../upstream/upstream.ts";

export type RecentBlocks = {
  head(): { number: bigint; hash: string } | undefined;
  /** The hash of an announced block: from memory, else from a validator on this key's account. Undefined if none answers. */
  hashAt(number: bigint, keyId: string): Promise<string | undefined>;
  /** Whether the bloom filter of one of these blocks may pass the test. A block that is not in memory may. */
  mayMatch(range: { from: bigint; to: bigint }, test: (bloom: Uint8Array | undefined) => boolean): boolean;
  /** Whether a block of this hash was one of the chain that ended before this one. */
  hasEnded(hash: string): boolean;
  stop(): void;
};

/** More than a filter that is polled every five minutes has missed, at 2 s a block. */
const blocksMax = 256;

type Block = { hash: string; bloom: Uint8Array | undefined };

/** Hashes and bloom filters of the latest blocks, so that most polls ask no validator. */
export function createRecentBlocks({
  upstream,
  askChain,
}: {
  upstream: Pick<Upstream, "onHead" | "onEpoch">;
  askChain: AskChain;
}): RecentBlocks {
  let blocks = new Map<bigint, Block>();
  let ended = new Set<string>();
  let head: { number: bigint; hash: string } | undefined;

  const stopListening = [upstream.onHead(remember), upstream.onEpoch(begin)];

  function remember({ number, hash, block }: NewHead): void {
    head = { number, hash };
    blocks.set(number, { hash, bloom: readBloom(block["logsBloom"]) });
    for (const oldest of blocks.keys()) {
      if (blocks.size <= blocksMax) break;
      blocks.delete(oldest);
    }
  }

  function begin(): void {
    ended = new Set([...blocks.values()].map(({ hash }) => hash));
    blocks = new Map();
    head = undefined;
  }

  return {
    head: () => head,
    async hashAt(number, keyId) {
      const known = blocks.get(number);
      if (known !== undefined || head === undefined || number > head.number) return known?.hash;
      const answer = await askChain("eth_getBlockByNumber", [`0x${number.toString(16)}`, false], { keyId });
      const block: unknown = answer?.result;
      return typeof block === "object" && block !== null && "hash" in block
        ? readHash(block.hash)
        : undefined;
    },
    mayMatch({ from, to }, test) {
      for (let number = from; number <= to; number += 1n) {
        const block = blocks.get(number);
        if (block === undefined || test(block.bloom)) return true;
      }
      return false;
    },
    hasEnded: (hash) => ended.has(hash),
    stop() {
      for (const stop of stopListening) stop();
    },
  };
}
