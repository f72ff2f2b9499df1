import { LRUCache } from "lru-cache";
import { checksumAddress } from "../../lib/chain/checksum-address.ts";
import { ChainUnavailableError } from "../../lib/chain/rpc-client.ts";
import { isPostgresFailure } from "../../lib/postgres/postgres-failure.ts";
import type { Queryable } from "../../lib/postgres/queryable.ts";
import { readHex, readInteger, readNullable, readText } from "../../lib/postgres/row.ts";
import type { ChainReader } from "../chain/chain-reader.ts";
import type { KnownContracts } from "../chain/known-contracts.ts";
import type { RpcReceipt, RpcTransaction } from "../chain/rpc-records.ts";
import { tokenTransfersOf } from "../chain/token-transfers.ts";
import { transactionRecordOf } from "../chain/transaction-record.ts";
import type { TransactionRecord, TransferRecord } from "../records/transaction.ts";
import { timesOf } from "../records/values.ts";
import { bytesOf } from "./columns.ts";

/** Why transactions failed, by block and hash. */
export type KnownReverts = LRUCache<string, NonNullable<TransactionRecord["revert"]>>;
const revertBytesMax = 8_388_608;
const bytesBeside = 500;

/** Keeps what was found while a validator still had the state that it takes. */
export function createKnownReverts(): KnownReverts {
  return new LRUCache({
    maxSize: revertBytesMax,
    sizeCalculation: (revert) => JSON.stringify(revert).length + bytesBeside,
  });
}

/** A transaction from the chain, with what its receipt says; undefined where the chain does not know it. */
export async function readTransaction({
  reader,
  db,
  contracts,
  reverts,
  hash,
}: {
  reader: ChainReader;
  db: Queryable;
  contracts: KnownContracts;
  reverts: KnownReverts;
  hash: string;
}): Promise<TransactionRecord | undefined> {
  const found = await reader.transaction(hash);
  if (found === undefined) return undefined;
  const { transaction, receipt } = found;
  if (receipt === undefined) {
    return transactionRecordOf({
      transaction,
      receipt,
      unixSeconds: undefined,
      tokenTransfers: [],
      revert: null,
      contracts,
    });
  }
  const [block, revert] = await Promise.all([
    reader.block(receipt.blockNumber),
    receipt.status === 1 ? null : knownRevert({ reverts, reader, contracts, transaction, receipt }),
  ]);
  // A receipt's block is there, unless the validator that was asked for it is behind.
  if (block === undefined) throw new ChainUnavailableError("the block of a receipt is not there yet");
  const unixSeconds = block.timestamp;
  const tokenTransfers = await transfersOf({ db, receipt, unixSeconds });
  return transactionRecordOf({ transaction, receipt, unixSeconds, tokenTransfers, revert, contracts });
}

async function knownRevert({
  reverts,
  ...asked
}: { reverts: KnownReverts } & Parameters<typeof whyReverted>[0]): Promise<TransactionRecord["revert"]> {
  const key = `${asked.receipt.blockHash} ${asked.transaction.hash}`;
  const known = reverts.get(key);
  if (known !== undefined) return known;
  const found = await whyReverted(asked);
  if (found !== null) reverts.set(key, found);
  return found;
}

/**
 * Runs the call again on the block before its own. Transactions of the same block that ran before it are missing there,
 * so the reason may differ; validators keep the state of the newest blocks only (Bonsai: 512).
 */
async function whyReverted({
  reader,
  contracts,
  transaction: { from, to, input, value, gas },
  receipt,
}: {
  reader: ChainReader;
  contracts: KnownContracts;
  transaction: RpcTransaction;
  receipt: RpcReceipt;
}): Promise<TransactionRecord["revert"]> {
  try {
    const outcome = await reader.call({ from, to, data: input, value, gas }, receipt.blockNumber - 1);
    if (!("reverted" in outcome)) return null;
    if (outcome.reverted === undefined) return { reason: null, error: null, raw: null };
    return { ...contracts.revert({ to, data: outcome.reverted }), raw: outcome.reverted };
  } catch (error) {
    if (error instanceof ChainUnavailableError) return null;
    throw error;
  }
}

type TokenFacts = Omit<TransferRecord["token"], "address" | "kind">;
const unknownToken: TokenFacts = { name: null, symbol: null, decimals: null };

/** From the receipt itself, so that they are right while the index is behind; names of tokens come from the index. */
async function transfersOf({
  db,
  receipt,
  unixSeconds,
}: {
  db: Queryable;
  receipt: RpcReceipt;
  unixSeconds: number;
}): Promise<TransferRecord[]> {
  const moved = receipt.logs.flatMap(tokenTransfersOf);
  if (moved.length === 0) return [];
  const tokens = await tokenFacts(db, [...new Set(moved.map(({ token }) => token))]);
  return moved.map(({ logIndex, token, kind, from, to, value, tokenId }) => ({
    blockNumber: receipt.blockNumber,
    logIndex,
    transactionHash: receipt.transactionHash,
    ...timesOf(unixSeconds),
    token: { address: checksumAddress(token), kind, ...(tokens.get(token) ?? unknownToken) },
    from: checksumAddress(from),
    to: checksumAddress(to),
    value: value?.toString() ?? null,
    tokenId: tokenId?.toString() ?? null,
  }));
}

async function tokenFacts(
  db: Queryable,
  tokens: readonly string[],
): Promise<ReadonlyMap<string, TokenFacts>> {
  try {
    const { rows } = await db.query({
      name: "token-facts",
      text: "select address, name, symbol, decimals from chain.token where address = any($1)",
      values: [tokens.map(bytesOf)],
    });
    return new Map(
      rows.map((row) => [
        readHex(row, "address"),
        {
          name: readNullable(readText, row, "name"),
          symbol: readNullable(readText, row, "symbol"),
          decimals: readNullable(readInteger, row, "decimals"),
        },
      ]),
    );
  } catch (error) {
    if (!isPostgresFailure(error)) throw error;
    return new Map();
  }
}
