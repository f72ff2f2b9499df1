import type { ChainBlock } from "./besu-blocks.ts";
import type { JsonObject } from "./json.ts";

/** A transaction as it travels between validators. */
export type PooledTransaction = {
  hash: string;
  raw: string;
  from: string;
  nonce: number;
  offeredPriceWei: bigint;
  gasLimit: bigint;
  json: JsonObject;
};

export type PoolEntry = { transaction: PooledTransaction; local: boolean; addedAtMs: number };
export type AddOutcome = "added" | "known" | "underpriced" | "full";

export type Mempool = ReturnType<typeof createMempool>;

// Besu's default, as `txpool_besuStatistics` tells it.
export const poolSizeMax = 4_096;

/** The pending transactions that one validator knows: one a sender and nonce, the better or later one stays. */
export function createMempool({ now }: { now: () => number }) {
  const byHash = new Map<string, PoolEntry>();
  const bySender = new Map<string, Map<number, PoolEntry>>();
  const listeners: ((transaction: PooledTransaction) => void)[] = [];

  function add(transaction: PooledTransaction, { local }: { local: boolean }): AddOutcome {
    if (byHash.has(transaction.hash)) return "known";
    const replaced = bySender.get(transaction.from)?.get(transaction.nonce);
    if (replaced === undefined) {
      if (byHash.size >= poolSizeMax) return "full";
    } else {
      // At a base fee of zero Besu lets the same price replace.
      if (transaction.offeredPriceWei < replaced.transaction.offeredPriceWei) return "underpriced";
      remove(replaced);
    }
    const entry = { transaction, local, addedAtMs: now() };
    byHash.set(transaction.hash, entry);
    const ofSender = bySender.get(transaction.from);
    if (ofSender === undefined) bySender.set(transaction.from, new Map([[transaction.nonce, entry]]));
    else ofSender.set(transaction.nonce, entry);
    for (const listener of listeners) listener(transaction);
    return "added";
  }

  function remove({ transaction }: PoolEntry): void {
    byHash.delete(transaction.hash);
    const ofSender = bySender.get(transaction.from);
    ofSender?.delete(transaction.nonce);
    if (ofSender?.size === 0) bySender.delete(transaction.from);
  }

  return {
    add,
    listen: (listener: (transaction: PooledTransaction) => void) => listeners.push(listener),
    get: (hash: string) => byHash.get(hash)?.transaction,
    at: (sender: string, nonce: number) => bySender.get(sender)?.get(nonce)?.transaction,
    entries: () => [...byHash.values()],

    /** The first nonce from `accountNonce` on that the pool does not hold. */
    nextNonce(sender: string, accountNonce: number): number {
      const ofSender = bySender.get(sender);
      let nonce = accountNonce;
      while (ofSender?.has(nonce)) nonce += 1;
      return nonce;
    },

    /** What a block could take now: of each sender those without a gap, in order, up to the block's gas. */
    executable(accountNonceOf: (sender: string) => number, gasLimit: bigint): PooledTransaction[] {
      const chosen: PooledTransaction[] = [];
      let gasLeft = gasLimit;
      for (const [sender, ofSender] of bySender) {
        for (let nonce = accountNonceOf(sender); ; nonce += 1) {
          const next = ofSender.get(nonce)?.transaction;
          if (next === undefined || next.gasLimit > gasLeft) break;
          gasLeft -= next.gasLimit;
          chosen.push(next);
        }
      }
      return chosen;
    },

    /** Drops what the block mined, and what it made impossible by mining another one at the same nonce. */
    removeMined(block: ChainBlock): void {
      for (const mined of block.transactions) {
        for (const entry of bySender.get(mined.from)?.values() ?? []) {
          if (entry.transaction.nonce <= mined.nonce) remove(entry);
        }
      }
    },

    clear(): void {
      byHash.clear();
      bySender.clear();
    },
  };
}
