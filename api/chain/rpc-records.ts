import { z } from "zod";
import { address, bytes, hash, quantity, wei } from "../../lib/chain/rpc-values.ts";

/** Blocks, transactions and receipts of Ethereum JSON-RPC, checked and turned into ours. Hex stays in lower case. */

const headerFields = {
  number: quantity,
  hash,
  parentHash: hash,
  timestamp: quantity,
  miner: address,
  gasUsed: wei,
  gasLimit: wei,
  baseFeePerGas: wei.nullish().transform((value) => value ?? null),
  size: quantity.nullish().transform((value) => value ?? 0),
  transactionsRoot: hash,
  receiptsRoot: hash,
  stateRoot: hash,
  extraData: bytes,
};

export const rpcTransaction = z.object({
  hash,
  // Null while it waits in a pool.
  blockNumber: quantity.nullish().transform((value) => value ?? null),
  blockHash: hash.nullish().transform((value) => value ?? null),
  transactionIndex: quantity.nullish().transform((value) => value ?? null),
  from: address,
  to: address.nullish().transform((value) => value ?? null),
  value: wei,
  nonce: quantity,
  type: quantity.nullish().transform((value) => value ?? 0),
  input: bytes,
  gas: wei,
  gasPrice: wei.nullish().transform((value) => value ?? 0n),
  maxFeePerGas: wei.nullish().transform((value) => value ?? null),
  maxPriorityFeePerGas: wei.nullish().transform((value) => value ?? null),
  accessList: z
    .array(z.object({ address, storageKeys: z.array(hash) }))
    .nullish()
    .transform((list) => list ?? []),
});
export type RpcTransaction = z.output<typeof rpcTransaction>;

export const rpcLog = z.object({
  logIndex: quantity,
  address,
  topics: z.array(hash).max(4),
  data: bytes,
});
export type RpcLog = z.output<typeof rpcLog>;

/** A log by itself, with where it is (`eth_getLogs`). */
export const rpcPlacedLog = rpcLog.extend({ blockNumber: quantity, transactionHash: hash });
export type RpcPlacedLog = z.output<typeof rpcPlacedLog>;

export const rpcReceipt = z.object({
  transactionHash: hash,
  transactionIndex: quantity,
  blockNumber: quantity,
  blockHash: hash,
  from: address,
  to: address.nullish().transform((value) => value ?? null),
  contractAddress: address.nullish().transform((value) => value ?? null),
  // Before Byzantium a receipt had none; no network of ours is that old.
  status: quantity,
  gasUsed: wei,
  cumulativeGasUsed: wei,
  effectiveGasPrice: wei.nullish().transform((value) => value ?? 0n),
  logs: z.array(rpcLog),
});
export type RpcReceipt = z.output<typeof rpcReceipt>;

/** `eth_getBlockByNumber` with hashes of transactions only. */
export const rpcBlock = z.object({ ...headerFields, transactions: z.array(hash) });
export type RpcBlock = z.output<typeof rpcBlock>;
/** `header` is the block as it came, for what is read from the header as a whole: its hash and its seals. */
export type BlockWithHeader = RpcBlock & { header: unknown };

/** `eth_getBlockByNumber` with whole transactions. */
export const rpcFullBlock = z.object({ ...headerFields, transactions: z.array(rpcTransaction) });
