import { z } from "zod";
import { ChainUnavailableError, type RpcAnswer, type RpcClient } from "../../lib/chain/rpc-client.ts";
import { hexQuantity } from "../../lib/chain/rpc-values.ts";
import { brokenBlock } from "./broken-block.ts";
import { type IndexedBlock, type IndexedReceipt, indexedBlock, indexedReceipt } from "./indexed-records.ts";

/** A block with its receipts, checked against each other; `json` is the block as it was told. */
export type ChainBlock = { block: IndexedBlock; receipts: IndexedReceipt[]; json: unknown };

export type AskAll = Pick<RpcClient, "askAll" | "ask">;

const receiptsSchema = z.array(indexedReceipt);

/**
 * Blocks `first` to `last` with their receipts, each linked to the one before by its hash. The calls travel in one array,
 * except where one block is all that is asked for: an array's answer is bounded by what a gateway may hold, a lone call's
 * is not.
 *
 * @throws ChainUnavailableError where the chain cannot be asked.
 * @throws BrokenChainError where what it says cannot be.
 */
export async function readRange({
  rpc,
  first,
  last,
}: {
  rpc: AskAll;
  first: number;
  last: number;
}): Promise<ChainBlock[]> {
  const numbers = Array.from({ length: last - first + 1 }, (_, index) => first + index);
  const calls = numbers.flatMap((number) => [
    { method: "eth_getBlockByNumber", params: [hexQuantity(number), true] },
    { method: "eth_getBlockReceipts", params: [hexQuantity(number)] },
  ]);
  const answers =
    first === last
      ? await Promise.all(calls.map(({ method, params }) => rpc.ask(method, params)))
      : await rpc.askAll(calls);
  const blocks = numbers.map((number, index) =>
    readBlock({ number, block: answers[2 * index], receipts: answers[2 * index + 1] }),
  );
  for (const [index, { block }] of blocks.entries()) {
    const parent = blocks[index - 1]?.block;
    if (parent !== undefined && block.parentHash !== parent.hash) {
      throw new BrokenChainError(`block ${block.number} does not follow block ${parent.number}`);
    }
  }
  return blocks;
}

function readBlock({
  number,
  block: blockAnswer,
  receipts: receiptsAnswer,
}: {
  number: number;
  block: RpcAnswer | undefined;
  receipts: RpcAnswer | undefined;
}): ChainBlock {
  const json = resultOf(blockAnswer);
  if (json === null) throw new BrokenChainError(`block ${number} is not there`);
  const block = indexedBlock.safeParse(json);
  if (!block.success) throw new BrokenChainError(`block ${number} cannot be read`, { cause: block.error });
  // Some nodes have no receipts of the genesis block, not even an empty list.
  const told = resultOf(receiptsAnswer) ?? [];
  const receipts = receiptsSchema.safeParse(told);
  if (!receipts.success) {
    throw new BrokenChainError(`the receipts of block ${number} cannot be read`, { cause: receipts.error });
  }
  const problem = brokenBlock({ number, block: block.data, receipts: receipts.data });
  if (problem !== undefined) throw new BrokenChainError(`block ${number}: ${problem}`);
  return { block: block.data, receipts: receipts.data, json };
}

function resultOf(answer: RpcAnswer | undefined): unknown {
  if (answer === undefined) throw new ChainUnavailableError("the node left a call without an answer");
  if ("error" in answer) throw new ChainUnavailableError(`the node refuses a call: ${answer.error.message}`);
  return answer.result;
}

/** What the chain says cannot be: nothing of it is kept, and it is asked again. */
export class BrokenChainError extends Error {
  override readonly name = "BrokenChainError";
}
