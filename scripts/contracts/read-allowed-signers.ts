import { z } from "zod";
import type { RpcClient } from "../../lib/chain/rpc-client.ts";
import { bytes, hexQuantity, quantity } from "../../lib/chain/rpc-values.ts";
import { feeCollectorInterface } from "../../lib/fee-collector/artifacts.ts";
import { readSource } from "../../lib/fee-collector/fee-sources.ts";
import { resultOf } from "./read-standing.ts";

/** Who may sign orders of a source now, whoever allowed it and when. */
export type SignerRight = { source: string; signer: string; sinceBlock: number };

/** Validators answer for no longer range. */
const rangeBlocks = 5000;
/** Ranges that are asked for in one array. */
const rangesAtOnce = 20;

/** Reads the contract's own log of its signers, from the chain's first block on. */
export async function readAllowedSigners({
  rpc,
  feeCollector,
}: {
  rpc: Pick<RpcClient, "askAll">;
  feeCollector: string;
}): Promise<SignerRight[]> {
  const event = feeCollectorInterface.getEvent("SignerChanged");
  if (event === null) throw new Error("the FeeCollector has no event SignerChanged");
  const [height] = await rpc.askAll([{ method: "eth_blockNumber", params: [] }]);
  const head = quantity.parse(resultOf(height));
  const rights = new Map<string, SignerRight>();
  for (let from = 0; from <= head; from += rangeBlocks * rangesAtOnce) {
    const starts = Array.from({ length: rangesAtOnce }, (_none, index) => from + index * rangeBlocks);
    const answers = await rpc.askAll(
      starts
        .filter((start) => start <= head)
        .map((start) => ({
          method: "eth_getLogs",
          params: [
            {
              address: feeCollector,
              topics: [event.topicHash],
              fromBlock: hexQuantity(start),
              toBlock: hexQuantity(Math.min(head, start + rangeBlocks - 1)),
            },
          ],
        })),
    );
    for (const log of answers.flatMap((answer) => logsSchema.parse(resultOf(answer)))) {
      const [source, signer, allowed] = changeSchema.parse(
        feeCollectorInterface.decodeEventLog(event, log.data, log.topics).toArray(),
      );
      const key = `${source} ${signer}`;
      if (allowed) rights.set(key, { source: readSource(source), signer, sinceBlock: log.blockNumber });
      else rights.delete(key);
    }
  }
  return [...rights.values()];
}

const logsSchema = z.array(z.object({ data: bytes, topics: z.array(z.string()), blockNumber: quantity }));
const changeSchema = z.tuple([z.string(), z.string(), z.boolean()]);
