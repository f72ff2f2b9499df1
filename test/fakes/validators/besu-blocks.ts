import { createHash } from "node:crypto";
import type { Transaction } from "ethers/transaction";
import { encodeRlp } from "ethers/utils";
import { hex, isObject, type JsonObject, objects, strings, text } from "./json.ts";

export type ChainTransaction = { hash: string; from: string; nonce: number; json: JsonObject };
export type ChainLog = { address: string; topics: string[]; json: JsonObject };

/** A block as all validators agree on it; `json` is without `extraData` and `transactions`, where answers differ. */
export type ChainBlock = {
  number: number;
  hash: string;
  parentHash: string;
  timestampSeconds: number;
  json: JsonObject;
  transactions: ChainTransaction[];
  receipts: JsonObject[];
  logs: ChainLog[];
};

/** The five validators of the recorded network, ascending as live headers list them. */
export const validatorAddresses = [
  "0x33a0e6b163958264c23c5a87e1c88b9193a80fea",
  "0x4bf5b67061ebba019c8b8d65e064e591dcc792ca",
  "0x558a2f9b9d35545569c5b64fad7eaaa19e6298dc",
  "0xaf50fef5a748a4e2cd81e561c26c6ba02bd87036",
  "0xfb97910ed39fe8ef9ddbc5a13ecffb2c0b1ce8ae",
];

/** Puts anvil's block and receipts into Besu's members and order. Hashes are anvil's, so no header can be re-hashed. */
export function readAnvilBlock(block: unknown, receipts: unknown): ChainBlock {
  if (!isObject(block)) throw new Error("anvil has no such block");
  const number = Number(text(block, "number"));
  const readReceipts = objects(receipts).map((receipt) => besuReceipt(receipt, block["timestamp"]));
  return {
    number,
    hash: text(block, "hash"),
    parentHash: text(block, "parentHash"),
    timestampSeconds: Number(text(block, "timestamp")),
    json: besuHeader(block, number),
    transactions: objects(block["transactions"]).map(readTransaction),
    receipts: readReceipts,
    logs: readReceipts.flatMap((receipt) => objects(receipt["logs"])).map(readLog),
  };
}

// "ctical byzantine fault tolerance": what every IBFT 2.0 header carries as mixHash.
const ibftMixHash = "0x63746963616c2062797a616e74696e65206661756c7420746f6c6572616e6365";

function besuHeader(block: JsonObject, number: number): JsonObject {
  const { hash, parentHash, nonce, sha3Uncles, logsBloom, transactionsRoot, stateRoot, receiptsRoot } = block;
  const { miner, baseFeePerGas, size, gasLimit, gasUsed, timestamp, withdrawalsRoot } = block;
  return {
    number: block["number"],
    hash,
    mixHash: ibftMixHash,
    parentHash,
    nonce,
    sha3Uncles,
    logsBloom,
    transactionsRoot,
    stateRoot,
    receiptsRoot,
    miner,
    difficulty: "0x1",
    totalDifficulty: hex(number + 1),
    extraData: "0x",
    baseFeePerGas,
    size,
    gasLimit,
    gasUsed,
    timestamp,
    uncles: [],
    transactions: [],
    withdrawalsRoot,
    withdrawals: [],
    blobGasUsed: "0x0",
    excessBlobGas: "0x0",
    parentBeaconBlockRoot: `0x${"00".repeat(32)}`,
  };
}

function readTransaction(transaction: JsonObject): ChainTransaction {
  const { blockHash, blockNumber, blockTimestamp, chainId, from, gas, gasPrice, hash, input, nonce } =
    transaction;
  const { to, transactionIndex, type, value, v, r, s, yParity } = transaction;
  const { accessList, maxPriorityFeePerGas, maxFeePerGas } = transaction;
  const json = {
    ...(accessList === undefined ? {} : { accessList }),
    blockHash,
    blockNumber,
    blockTimestamp,
    ...(chainId === undefined ? {} : { chainId }),
    from,
    gas,
    gasPrice,
    ...(maxFeePerGas === undefined ? {} : { maxPriorityFeePerGas, maxFeePerGas }),
    hash,
    input,
    nonce,
    to: to ?? null,
    transactionIndex,
    type,
    value,
    ...(yParity === undefined ? {} : { yParity }),
    v,
    r,
    s,
  };
  return {
    hash: text(transaction, "hash"),
    from: text(transaction, "from"),
    nonce: Number(text(transaction, "nonce")),
    json,
  };
}

/** A transaction that waits in a pool: as in a block, with `null` for what the block would say. */
export function pendingTransactionJson(transaction: Transaction, from: string): JsonObject {
  const typed = transaction.type !== null && transaction.type > 0;
  const withTip = transaction.type === 2;
  const { signature } = transaction;
  const v = typed ? signature?.yParity : (signature?.networkV ?? signature?.v);
  return {
    ...(typed ? { accessList: transaction.accessList ?? [] } : {}),
    blockHash: null,
    blockNumber: null,
    blockTimestamp: null,
    ...(transaction.chainId === 0n ? {} : { chainId: hex(transaction.chainId) }),
    from,
    gas: hex(transaction.gasLimit),
    gasPrice: hex(offeredPriceWei(transaction)),
    ...(withTip ? { maxPriorityFeePerGas: hex(transaction.maxPriorityFeePerGas ?? 0n) } : {}),
    ...(withTip ? { maxFeePerGas: hex(transaction.maxFeePerGas ?? 0n) } : {}),
    hash: transaction.hash,
    input: transaction.data,
    nonce: hex(transaction.nonce),
    ...{
      to: transaction.to?.toLowerCase() ?? null,
      transactionIndex: null,
      type: hex(transaction.type ?? 0),
    },
    value: hex(transaction.value),
    ...(typed ? { yParity: hex(v ?? 0) } : {}),
    v: hex(v ?? 0),
    r: hex(BigInt(signature?.r ?? 0)),
    s: hex(BigInt(signature?.s ?? 0)),
  };
}

/** With a base fee of zero a transaction's price is what it offers at most. */
export function offeredPriceWei(transaction: Transaction): bigint {
  return transaction.maxFeePerGas ?? transaction.gasPrice ?? 0n;
}

function besuReceipt(receipt: JsonObject, timestamp: unknown): JsonObject {
  const { blockHash, blockNumber, contractAddress, cumulativeGasUsed, from, gasUsed } = receipt;
  const { effectiveGasPrice, logsBloom, status, to, transactionHash, transactionIndex, type } = receipt;
  const logs = objects(receipt["logs"]).map((log) => besuLog(log, timestamp));
  return {
    blockHash,
    blockNumber,
    contractAddress,
    cumulativeGasUsed,
    from,
    gasUsed,
    effectiveGasPrice,
    logs,
    logsBloom,
    status,
    to: to ?? null,
    transactionHash,
    transactionIndex,
    type,
  };
}

function besuLog(log: JsonObject, blockTimestamp: unknown): JsonObject {
  const { logIndex, blockNumber, blockHash, transactionHash, transactionIndex, address, data, topics } = log;
  return {
    logIndex,
    removed: false,
    blockNumber,
    blockHash,
    blockTimestamp,
    transactionHash,
    transactionIndex,
    address,
    data,
    topics,
  };
}

function readLog(json: JsonObject): ChainLog {
  return { address: text(json, "address"), topics: strings(json["topics"]), json };
}

/**
 * The header's `extraData` as one validator keeps it: the same vanity, validators and round for all, and at least
 * four of five commit seals, not the same ones on each. The seals have the right form and sign nothing.
 */
export function extraDataOf(block: ChainBlock, validatorIndex: number): string {
  const vanity = `0x${Buffer.from("besu 26.8.0").toString("hex").padStart(64, "0")}`;
  if (block.number === 0)
    return encodeRlp([`0x${"00".repeat(32)}`, validatorAddresses, "0x", "0x00000000", []]);
  // The sixth turn misses nobody: now and then a validator has all five.
  const missing = (block.number + validatorIndex) % (validatorAddresses.length + 1);
  const sealers = validatorAddresses.filter((_, index) => index !== missing);
  const seals = sealers.map((address) => sealOf(block.hash, address));
  return encodeRlp([vanity, validatorAddresses, "0x", "0x00000000", seals]);
}

function sealOf(blockHash: string, address: string): string {
  const half = (name: string) => createHash("sha256").update(`${name}${blockHash}${address}`).digest("hex");
  return `0x${half("r")}${half("s")}00`;
}
