import { z } from "zod";
import type { RpcClient } from "../../lib/chain/rpc-client.ts";
import { address, bytes, hash, hexQuantity, quantity, wei } from "../../lib/chain/rpc-values.ts";

/** A mined transaction of the wallet. */
export type MinedTransaction = {
  hash: string;
  nonce: number;
  blockNumber: number;
  /** Zero address for the creation of a contract. */
  to: string;
  valueWei: bigint;
  data: string;
  minedAtMs: number;
};

/**
 * Finds the wallet's transaction of a nonce among the mined ones. Besu tells it at once
 * (`eth_getTransactionBySenderAndNonce`). Where the node does not know that method (anvil), the block is found by
 * bisection: the first one after which the wallet's nonce is higher. That needs the state of older blocks; a node that
 * no longer has it makes the answer `undefined`, which proves nothing.
 */
export function createMinedSearch({ rpc, wallet }: { rpc: RpcClient; wallet: string }) {
  let isDirect = true;

  async function askDirectly(nonce: number): Promise<{ blockNumber: number } | undefined> {
    const answer = await rpc.ask("eth_getTransactionBySenderAndNonce", [wallet, hexQuantity(nonce)]);
    if ("error" in answer) {
      // -32601 method not found, -32604 method not enabled, -32602 unknown to a node that checks names and parameters.
      if ([-32601, -32602, -32604].includes(answer.error.code)) isDirect = false;
      return undefined;
    }
    const found = placeSchema.safeParse(answer.result);
    return found.success ? found.data : undefined;
  }

  /** Transactions of the wallet that are mined up to a block; `undefined` where the node has its state no more. */
  async function countAt(height: number): Promise<number | undefined> {
    const answer = await rpc.ask("eth_getTransactionCount", [wallet, hexQuantity(height)]);
    const count = "result" in answer ? quantity.safeParse(answer.result) : undefined;
    return count?.success === true ? count.data : undefined;
  }

  /** Goes back from `height` in steps that double, then halves: the newest blocks have their state for the longest. */
  async function bisect(nonce: number, height: number): Promise<{ blockNumber: number } | undefined> {
    let withIt = height;
    let without = height;
    for (let step = 1; without === withIt; step *= 2) {
      without = Math.max(-1, height - step);
      const count = without === -1 ? 0 : await countAt(without);
      if (count === undefined) return undefined;
      if (count > nonce) withIt = without;
    }
    while (withIt - without > 1) {
      const middle = Math.floor((without + withIt) / 2);
      const count = await countAt(middle);
      if (count === undefined) return undefined;
      if (count > nonce) withIt = middle;
      else without = middle;
    }
    return { blockNumber: withIt };
  }

  return {
    /** `height`: a block after which the wallet's nonce is known to be higher than `nonce`. */
    async minedAt({
      nonce,
      height,
    }: {
      nonce: number;
      height: number;
    }): Promise<MinedTransaction | undefined> {
      const direct = isDirect ? await askDirectly(nonce) : undefined;
      const place = isDirect ? direct : await bisect(nonce, height);
      if (place === undefined) return undefined;
      const answer = await rpc.ask("eth_getBlockByNumber", [hexQuantity(place.blockNumber), true]);
      const block = "result" in answer ? blockSchema.safeParse(answer.result) : undefined;
      if (block?.success !== true) return undefined;
      const found = block.data.transactions.find(
        ({ from, nonce: itsNonce }) => from.toLowerCase() === wallet.toLowerCase() && itsNonce === nonce,
      );
      if (found === undefined) return undefined;
      return {
        hash: found.hash,
        nonce,
        blockNumber: block.data.number,
        to: found.to ?? zeroAddress,
        valueWei: found.value,
        data: found.input,
        minedAtMs: block.data.timestamp * 1000,
      };
    },
  };
}

const zeroAddress = `0x${"00".repeat(20)}`;

/** A transaction that still waits in a pool has no block. */
const placeSchema = z.object({ blockNumber: quantity });

const blockSchema = z.object({
  number: quantity,
  timestamp: quantity,
  transactions: z.array(
    z.object({
      hash,
      from: address,
      to: address.nullish(),
      nonce: quantity,
      value: wei,
      input: bytes,
    }),
  ),
});
