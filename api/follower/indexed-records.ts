import { z } from "zod";
import { rpcFullBlock, rpcReceipt, rpcTransaction } from "../chain/rpc-records.ts";

/** What the index keeps of blocks and receipts, and nothing else: each key that is checked costs a microsecond a row. */

const indexedTransaction = rpcTransaction.pick({
  hash: true,
  blockHash: true,
  transactionIndex: true,
  from: true,
  to: true,
  value: true,
  nonce: true,
  type: true,
  input: true,
});

export const indexedBlock = rpcFullBlock
  .pick({
    number: true,
    hash: true,
    parentHash: true,
    timestamp: true,
    miner: true,
    gasUsed: true,
    gasLimit: true,
    size: true,
    extraData: true,
  })
  .extend({ transactions: z.array(indexedTransaction) });
export type IndexedBlock = z.output<typeof indexedBlock>;

export const indexedReceipt = rpcReceipt.pick({
  transactionHash: true,
  transactionIndex: true,
  blockNumber: true,
  blockHash: true,
  contractAddress: true,
  status: true,
  gasUsed: true,
  effectiveGasPrice: true,
  logs: true,
});
export type IndexedReceipt = z.output<typeof indexedReceipt>;
