import { checksumAddress } from "../../lib/chain/checksum-address.ts";
import type { LogRecord, TransactionRecord, TransferRecord } from "../records/transaction.ts";
import { timesOf } from "../records/values.ts";
import type { KnownContracts } from "./known-contracts.ts";
import type { RpcLog, RpcReceipt, RpcTransaction } from "./rpc-records.ts";

/** A transaction with its receipt, both of JSON-RPC, as the published record. */
export function transactionRecordOf({
  transaction,
  receipt,
  unixSeconds,
  tokenTransfers,
  revert,
  contracts,
}: {
  transaction: RpcTransaction;
  /** Undefined while it is pending. */
  receipt: RpcReceipt | undefined;
  /** Its block's time. */
  unixSeconds: number | undefined;
  tokenTransfers: TransferRecord[];
  revert: TransactionRecord["revert"];
  contracts: KnownContracts;
}): TransactionRecord {
  const { to, input } = transaction;
  const mined = receipt === undefined ? undefined : statusOf(receipt);
  return {
    hash: transaction.hash,
    blockNumber: receipt?.blockNumber ?? null,
    blockHash: receipt?.blockHash ?? null,
    ...(unixSeconds === undefined ? { timestamp: null, timestampUnix: null } : timesOf(unixSeconds)),
    index: receipt?.transactionIndex ?? null,
    status: mined ?? "pending",
    from: checksumAddress(transaction.from),
    to: to === null ? null : checksumAddress(to),
    contractCreated: receipt?.contractAddress ? checksumAddress(receipt.contractAddress) : null,
    value: transaction.value.toString(),
    nonce: transaction.nonce,
    type: transaction.type,
    input,
    method: contracts.method({ to, input }),
    gasLimit: transaction.gas.toString(),
    gasPrice: transaction.gasPrice.toString(),
    maxFeePerGas: transaction.maxFeePerGas?.toString() ?? null,
    maxPriorityFeePerGas: transaction.maxPriorityFeePerGas?.toString() ?? null,
    accessList: transaction.accessList.map(({ address, storageKeys }) => ({
      address: checksumAddress(address),
      storageKeys,
    })),
    receipt:
      receipt === undefined
        ? null
        : {
            status: statusOf(receipt),
            gasUsed: receipt.gasUsed.toString(),
            cumulativeGasUsed: receipt.cumulativeGasUsed.toString(),
            effectiveGasPrice: receipt.effectiveGasPrice.toString(),
            fee: (receipt.gasUsed * receipt.effectiveGasPrice).toString(),
            logs: receipt.logs.map((log) => logRecordOf(log, contracts)),
          },
    tokenTransfers,
    revert,
  };
}

export function logRecordOf(
  { logIndex, address, topics, data }: RpcLog,
  contracts: KnownContracts,
): LogRecord {
  return {
    index: logIndex,
    address: checksumAddress(address),
    contractName: contracts.nameOf(address),
    topics,
    data,
    event: contracts.event({ address, topics, data }),
  };
}

function statusOf({ status }: RpcReceipt): "success" | "failed" {
  return status === 1 ? "success" : "failed";
}
