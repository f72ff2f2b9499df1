import type { ChainBlock, ChainTransaction } from "./besu-blocks.ts";

/** Every block of a chain from 0 on, and its transactions by hash and by sender. */
export function createBlockStore() {
  let blocks: ChainBlock[] = [];
  const numberByHash = new Map<string, number>();
  const transactions = new Map<string, { transaction: ChainTransaction; block: ChainBlock; index: number }>();
  const sentBy = new Map<string, { nonce: number; blockNumber: number }[]>();

  function append(block: ChainBlock): void {
    blocks.push(block);
    numberByHash.set(block.hash, block.number);
    block.transactions.forEach((transaction, index) => {
      transactions.set(transaction.hash, { transaction, block, index });
      const sent = sentBy.get(transaction.from);
      const entry = { nonce: transaction.nonce, blockNumber: block.number };
      if (sent === undefined) sentBy.set(transaction.from, [entry]);
      else sent.push(entry);
    });
  }

  function rebuild(kept: ChainBlock[]): void {
    blocks = [];
    numberByHash.clear();
    transactions.clear();
    sentBy.clear();
    kept.forEach(append);
  }

  return {
    append,
    /** Only these blocks from now on. */
    rebuild,
    /** Only blocks up to `height` from now on. */
    truncate: (height: number) => rebuild(blocks.filter((block) => block.number <= height)),
    height: () => blocks.length - 1,
    block: (number: number) => blocks[number],
    blockNumberOf: (hash: string) => numberByHash.get(hash),
    transaction: (hash: string) => transactions.get(hash),

    /** The account's next nonce after block `height`: one more than the last that it sent. */
    nonceAt(sender: string, height: number): number {
      const last = sentBy.get(sender)?.findLast((sent) => sent.blockNumber <= height);
      return last === undefined ? 0 : last.nonce + 1;
    },

    transactionOf(sender: string, nonce: number) {
      const sent = sentBy.get(sender)?.find((entry) => entry.nonce === nonce);
      if (sent === undefined) return undefined;
      const block = blocks[sent.blockNumber];
      return block?.transactions.find((entry) => entry.from === sender && entry.nonce === nonce);
    },
  };
}
