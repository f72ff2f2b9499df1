import { z } from "zod";
import { readAnswer } from "../../../lib/chain/read-answer.ts";
import type { RpcClient } from "../../../lib/chain/rpc-client.ts";
import { hash, hexQuantity, quantity } from "../../../lib/chain/rpc-values.ts";

/** What the ledger needs of a block. */
export const blockHeader = z.object({
  number: quantity,
  hash,
  parentHash: hash,
  timestamp: quantity,
  logsBloom: z.string().optional(),
  extraData: z.string(),
});
export type BlockHeader = z.output<typeof blockHeader>;

/**
 * The headers of blocks `first` to `last`, each linked by its hash to the one before, and the first to `parentHash`.
 *
 * @throws ChainUnavailableError where the chain cannot be asked.
 * @throws ChainEvidenceError where they are no chain.
 */
export async function readBlockHeaders({
  rpc,
  first,
  last,
  parentHash,
}: {
  rpc: Pick<RpcClient, "askAll">;
  first: number;
  last: number;
  parentHash: string;
}): Promise<BlockHeader[]> {
  const numbers = Array.from({ length: last - first + 1 }, (_, index) => first + index);
  const answers = await rpc.askAll(
    numbers.map((number) => ({ method: "eth_getBlockByNumber", params: [hexQuantity(number), false] })),
  );
  let parent = { hash: parentHash, timestamp: 0 };
  return numbers.map((number, index) => {
    const header = readAnswer(answers[index], blockHeader.nullable());
    if (header === null) throw new ChainEvidenceError(`block ${number} is not there`);
    if (header.number !== number) {
      throw new ChainEvidenceError(`block ${header.number} was answered in the place of ${number}`);
    }
    if (header.parentHash !== parent.hash) {
      throw new ChainEvidenceError(`block ${number} does not follow the block before it`);
    }
    if (header.timestamp < parent.timestamp) {
      throw new ChainEvidenceError(`block ${number} is older than the block before it`);
    }
    parent = header;
    return header;
  });
}

/** What the chain says contradicts itself or what was booked: nothing of it is booked, and it is asked again. */
export class ChainEvidenceError extends Error {
  override readonly name = "ChainEvidenceError";
}
