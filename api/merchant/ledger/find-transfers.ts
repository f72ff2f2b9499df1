import { z } from "zod";
import { readAnswer } from "../../../lib/chain/read-answer.ts";
import type { RpcClient } from "../../../lib/chain/rpc-client.ts";
import { address, hash, hexQuantity, wei } from "../../../lib/chain/rpc-values.ts";
import type { BlockHeader } from "./block-headers.ts";
import type { BoxArrival } from "./box-arrivals.ts";

const transaction = z.object({ hash, from: address, to: address.nullish(), value: wei });
const fullBlock = z.object({ hash, transactions: z.array(transaction) });

type Transaction = z.output<typeof transaction>;
export type Transfer = { txHash: string; payer: string };

/** Whole blocks that are asked for in a round: somebody may send a little to many boxes in each. */
const blocksMax = 64;

/**
 * The transactions by which somebody sent something to boxes, by the arrival, for receipts: evidence only, the balance is what counts.
 * None where a block has several to a box: transfers by contracts are no transactions to it. Each block is asked for once.
 *
 * @throws ChainUnavailableError where the chain cannot be asked.
 */
export async function findTransfers(
  rpc: Pick<RpcClient, "ask">,
  arrivals: readonly BoxArrival[],
): Promise<Map<BoxArrival, Transfer>> {
  const found = new Map<BoxArrival, Transfer>();
  const byBlock = [...Map.groupBy(arrivals, ({ block }) => block)];
  for (const [block, ofBlock] of byBlock.slice(0, blocksMax)) {
    const byBox = Map.groupBy(await readTransfers(rpc, block), ({ to }) => to);
    for (const arrival of ofBlock) {
      const [transfer, ...others] = byBox.get(arrival.box) ?? [];
      if (transfer === undefined || others.length > 0) continue;
      found.set(arrival, { txHash: transfer.hash, payer: transfer.from });
    }
  }
  return found;
}

async function readTransfers(rpc: Pick<RpcClient, "ask">, block: BlockHeader): Promise<Transaction[]> {
  const answer = await rpc.ask("eth_getBlockByNumber", [hexQuantity(block.number), true]);
  const full = readAnswer(answer, fullBlock.nullable());
  return full?.hash === block.hash ? full.transactions.filter(({ value }) => value > 0n) : [];
}
