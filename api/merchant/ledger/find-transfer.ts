import { z } from "zod";
import { readAnswer } from "../../../lib/chain/read-answer.ts";
import type { RpcClient } from "../../../lib/chain/rpc-client.ts";
import { address, hash, hexQuantity, wei } from "../../../lib/chain/rpc-values.ts";
import type { BlockHeader } from "./block-headers.ts";

const fullBlock = z.object({
  hash,
  transactions: z.array(z.object({ hash, from: address, to: address.nullish(), value: wei })),
});

/**
 * The transaction by which somebody sent something to a box, for the receipt: evidence only, the balance is what counts.
 * Undefined where a block has several or none: transfers by contracts are no transactions to the box.
 *
 * @throws ChainUnavailableError where the chain cannot be asked.
 */
export async function findTransfer(
  rpc: Pick<RpcClient, "ask">,
  { box, block }: { box: string; block: BlockHeader },
): Promise<{ txHash: string; payer: string } | undefined> {
  const answer = await rpc.ask("eth_getBlockByNumber", [hexQuantity(block.number), true]);
  const full = readAnswer(answer, fullBlock.nullable());
  if (full?.hash !== block.hash) return undefined;
  const transfers = full.transactions.filter(({ to, value }) => to === box && value > 0n);
  const [transfer] = transfers;
  return transfer === undefined || transfers.length > 1
    ? undefined
    : { txHash: transfer.hash, payer: transfer.from };
}
