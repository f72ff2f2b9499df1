import { z } from "zod";
import { createBloomTest, readBloom } from "../../../lib/chain/log-bloom.ts";
import { readAnswer } from "../../../lib/chain/read-answer.ts";
import type { RpcClient } from "../../../lib/chain/rpc-client.ts";
import { hash, hexQuantity } from "../../../lib/chain/rpc-values.ts";
import { type FeeEvent, readFeeEvent } from "../../../lib/fee-collector/read-fee-event.ts";
import { rpcPlacedLog } from "../../chain/rpc-records.ts";
import { type BlockHeader, ChainEvidenceError } from "./block-headers.ts";

/** Its addresses in lower case, with its place on the chain. */
export type PlacedFeeEvent = FeeEvent & { block: BlockHeader; txHash: string; logIndex: number };

/** Of one range; beyond it the range is read in parts. */
const logsMax = 10_000;
const logsSchema = z.array(rpcPlacedLog.extend({ blockHash: hash })).max(logsMax);

/**
 * The FeeCollector's payments in a range of blocks, in the chain's order. Each log must be of a block of `headers`. A block
 * whose bloom filter says that it may have one, and which was answered none, is asked by its hash: a node that is behind
 * with its index of logs answers ranges short.
 *
 * @throws ChainUnavailableError where the chain cannot be asked.
 * @throws ChainEvidenceError where a log cannot be of the range.
 */
export async function readFeeEvents({
  rpc,
  feeCollector,
  headers,
}: {
  rpc: Pick<RpcClient, "ask" | "askAll">;
  feeCollector: string;
  /** Linked. */
  headers: readonly BlockHeader[];
}): Promise<PlacedFeeEvent[]> {
  const [first, last] = [headers.at(0), headers.at(-1)];
  if (first === undefined || last === undefined) return [];
  const range = { fromBlock: hexQuantity(first.number), toBlock: hexQuantity(last.number) };
  const told = readAnswer(await rpc.ask("eth_getLogs", [{ ...range, address: feeCollector }]), logsSchema);
  const blocksTold = new Set(told.map(({ blockHash }) => blockHash));
  const mayHave = createBloomTest({ addresses: [feeCollector], topics: [] });
  const doubtful = headers.filter(
    (header) => !blocksTold.has(header.hash) && mayHave(readBloom(header.logsBloom)),
  );
  const again = await rpc.askAll(
    doubtful.map((header) => ({
      method: "eth_getLogs",
      params: [{ blockHash: header.hash, address: feeCollector }],
    })),
  );
  const logs = [...told, ...again.flatMap((answer) => readAnswer(answer, logsSchema))];
  const byHash = new Map(headers.map((header) => [header.hash, header]));
  const events = logs.flatMap((log): PlacedFeeEvent[] => {
    const block = byHash.get(log.blockHash);
    if (block === undefined || block.number !== log.blockNumber) {
      throw new ChainEvidenceError(`a log of block ${log.blockNumber} is of no block of this chain`);
    }
    if (log.address !== feeCollector)
      throw new ChainEvidenceError(`a log of ${log.address} was not asked for`);
    const event = readFeeEvent(log);
    if (event === undefined) return [];
    const place = { block, txHash: log.transactionHash, logIndex: log.logIndex };
    return [{ ...event, payee: event.payee?.toLowerCase() ?? null, ...place }];
  });
  events.sort((one, other) => one.block.number - other.block.number || one.logIndex - other.logIndex);
  for (const [index, event] of events.entries()) {
    const before = events[index - 1];
    if (before?.block === event.block && before.logIndex === event.logIndex) {
      throw new ChainEvidenceError(`log ${event.logIndex} of block ${event.block.number} was answered twice`);
    }
  }
  return events;
}
