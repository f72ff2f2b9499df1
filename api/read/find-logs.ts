import { ChainUnavailableError } from "../../lib/chain/rpc-client.ts";
import type { ChainReader } from "../chain/chain-reader.ts";
import type { KnownContracts } from "../chain/known-contracts.ts";
import type { RpcPlacedLog } from "../chain/rpc-records.ts";
import { logRecordOf } from "../chain/transaction-record.ts";
import type { LogRecord } from "../records/transaction.ts";

/** Where a page of logs ends: the next one has what is before this log, or before this block where `index` is 0. */
export type LogPlace = { block: number; index: number };
export type LogsAsked = { address: string; limit: number; before: LogPlace };
export type FoundLog = LogRecord & { blockNumber: number; transactionHash: string };
export type FoundLogs = {
  /** Newest first. */
  data: FoundLog[];
  /** Where to look on; null once the chain's beginning was reached. */
  next: LogPlace | null;
  /** The oldest block that was looked at. */
  from: number;
  /** A block whose logs are too many to be shown; it was passed over. */
  tooMany: number | null;
};

/** The gateway's bound for a key with the public permission alone. */
const rangeMax = 1000;
const rangesMax = 5;

/**
 * A contract's newest logs before a place, from the chain: the index has none. It looks back over a few ranges of blocks
 * until it finds some, and says how far it went. Where a range has more than can be taken, it asks for a tenth of it.
 * @throws ChainUnavailableError where even a block alone is too much for the first try.
 */
export async function findLogs({
  reader,
  contracts,
  address,
  limit,
  before,
}: LogsAsked & { reader: Pick<ChainReader, "logs">; contracts: KnownContracts }): Promise<FoundLogs> {
  let to = before.index === 0 ? before.block - 1 : before.block;
  let span = rangeMax;
  let from = to + 1;
  let tooMany: number | null = null;
  for (let asked = 0; asked < rangesMax && to >= 0; asked += 1) {
    const first = Math.max(0, to - span + 1);
    const found = await logsOrNothing(reader, address, { from: first, to });
    if (found === undefined && span > 1) {
      span /= 10;
      continue;
    }
    from = first;
    if (found === undefined) tooMany = first;
    const rows = (found ?? []).filter((log) => isBefore(log, before)).toSorted(newestFirst);
    if (rows.length > 0) {
      const shown = rows.slice(0, limit);
      const last = shown.at(-1);
      const isCut = rows.length > limit && last !== undefined;
      const next = isCut ? { block: last.blockNumber, index: last.logIndex } : below(first);
      return {
        data: shown.map((log) => ({
          ...logRecordOf(log, contracts),
          blockNumber: log.blockNumber,
          transactionHash: log.transactionHash,
        })),
        next,
        from: isCut ? last.blockNumber : first,
        tooMany,
      };
    }
    to = first - 1;
  }
  return { data: [], next: below(from), from, tooMany };
}

async function logsOrNothing(
  reader: Pick<ChainReader, "logs">,
  address: string,
  range: { from: number; to: number },
): Promise<RpcPlacedLog[] | undefined> {
  try {
    return await reader.logs(address, range);
  } catch (error) {
    if (error instanceof ChainUnavailableError) return undefined;
    throw error;
  }
}

function below(block: number): LogPlace | null {
  return block <= 0 ? null : { block, index: 0 };
}

/** A place of index 0 is a block's beginning: none of its own logs is before it. */
function isBefore({ blockNumber, logIndex }: RpcPlacedLog, { block, index }: LogPlace): boolean {
  return blockNumber < block || (blockNumber === block && logIndex < index);
}

function newestFirst(one: RpcPlacedLog, other: RpcPlacedLog): number {
  return other.blockNumber - one.blockNumber || other.logIndex - one.logIndex;
}
