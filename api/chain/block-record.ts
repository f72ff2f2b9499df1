import { checksumAddress } from "../../lib/chain/checksum-address.ts";
import { decodeExtraData } from "../../lib/ibft/extra-data.ts";
import { unsealedSize } from "../../lib/ibft/unsealed-size.ts";
import type { BlockRecord } from "../records/block.ts";
import { timesOf } from "../records/values.ts";
import type { RpcBlock } from "./rpc-records.ts";

/** A block of JSON-RPC as the published record. */
export function blockRecordOf(block: RpcBlock): BlockRecord {
  const decoded = decodeExtraData(block.extraData);
  return {
    number: block.number,
    hash: block.hash,
    parentHash: block.parentHash,
    ...timesOf(block.timestamp),
    proposer: block.number === 0 ? null : checksumAddress(block.miner),
    gasUsed: block.gasUsed.toString(),
    gasLimit: block.gasLimit.toString(),
    baseFeePerGas: block.baseFeePerGas?.toString() ?? null,
    size: unsealedSize(block),
    transactionCount: block.transactions.length,
    transactions: block.transactions,
    transactionsRoot: block.transactionsRoot,
    receiptsRoot: block.receiptsRoot,
    stateRoot: block.stateRoot,
    vanity: "extraData" in decoded ? decoded.extraData.vanity : null,
  };
}
