import { z } from "zod";
import { address, amount, bytes, hash, integer, times } from "./values.ts";

/** A decoded argument; a number is decimal text, an array or tuple is JSON. */
const argument = z
  .strictObject({ name: z.string(), type: z.string(), value: z.json() })
  .meta({ id: "Argument" });

export const logRecord = z
  .strictObject({
    index: integer,
    address,
    contractName: z.string().nullable(),
    topics: z.array(hash),
    data: bytes,
    event: z
      .strictObject({ name: z.string(), signature: z.string(), arguments: z.array(argument) })
      .nullable()
      .meta({ description: "Decoded, for contracts that are known" }),
  })
  .meta({ id: "Log" });
export type LogRecord = z.output<typeof logRecord>;

export const tokenRecord = z
  .strictObject({
    address,
    kind: z.enum(["erc20", "erc721", "erc1155", "unknown"]),
    name: z.string().nullable(),
    symbol: z.string().nullable(),
    decimals: integer.nullable(),
  })
  .meta({ id: "Token" });

export const transferRecord = z
  .strictObject({
    blockNumber: integer,
    logIndex: integer,
    transactionHash: hash,
    ...times,
    token: tokenRecord,
    from: address,
    to: address,
    value: amount.nullable().meta({ description: "Null for one item of ERC-721" }),
    tokenId: amount.nullable(),
  })
  .meta({ id: "Transfer" });
export type TransferRecord = z.output<typeof transferRecord>;

/** A row of a list of transactions, from the index. */
export const transactionRow = z
  .strictObject({
    hash,
    blockNumber: integer,
    index: integer,
    ...times,
    status: z.enum(["success", "failed"]),
    from: address,
    to: address.nullable(),
    contractCreated: address.nullable(),
    value: amount,
    nonce: integer,
    fee: amount,
    gasUsed: amount,
    type: integer,
    selector: bytes.nullable(),
  })
  .meta({ id: "TransactionSummary" });
export type TransactionRow = z.output<typeof transactionRow>;

export const transactionRecord = z
  .strictObject({
    hash,
    blockNumber: integer.nullable(),
    blockHash: hash.nullable(),
    timestamp: times.timestamp.nullable(),
    timestampUnix: times.timestampUnix.nullable(),
    index: integer.nullable(),
    status: z.enum(["pending", "success", "failed"]),
    from: address,
    to: address.nullable(),
    contractCreated: address.nullable(),
    value: amount,
    nonce: integer,
    type: integer,
    input: bytes,
    method: z
      .strictObject({
        selector: bytes,
        name: z.string().nullable(),
        signature: z.string().nullable(),
        arguments: z.array(argument).nullable(),
      })
      .nullable()
      .meta({ description: "What the input calls; null for a plain transfer or a creation" }),
    gasLimit: amount,
    gasPrice: amount,
    maxFeePerGas: amount.nullable(),
    maxPriorityFeePerGas: amount.nullable(),
    accessList: z.array(z.strictObject({ address, storageKeys: z.array(hash) })),
    receipt: z
      .strictObject({
        status: z.enum(["success", "failed"]),
        gasUsed: amount,
        cumulativeGasUsed: amount,
        effectiveGasPrice: amount,
        fee: amount,
        logs: z.array(logRecord),
      })
      .meta({ id: "Receipt" })
      .nullable()
      .meta({ description: "Null while the transaction is pending" }),
    tokenTransfers: z.array(transferRecord),
    revert: z
      .strictObject({
        reason: z.string().nullable(),
        error: z.strictObject({ name: z.string(), arguments: z.array(argument) }).nullable(),
        raw: bytes.nullable(),
      })
      .nullable()
      .meta({ description: "Why it failed, where the validator still has the state; else null" }),
  })
  .meta({ id: "Transaction" });
export type TransactionRecord = z.output<typeof transactionRecord>;

export const accountRecord = z
  .strictObject({
    address,
    balance: amount,
    tokenBalance: amount.nullable(),
    transactionCount: integer.meta({ description: "How many transactions it has sent" }),
    isContract: z.boolean(),
    codeHash: hash.nullable(),
    codeBytes: integer,
    name: z.string().nullable(),
    createdBy: z.strictObject({ address, transactionHash: hash, blockNumber: integer }).nullable(),
    firstSeenBlock: integer.nullable(),
    blockNumber: integer.meta({ description: "The block at which all of this was read" }),
  })
  .meta({ id: "Account" });
export type AccountRecord = z.output<typeof accountRecord>;
