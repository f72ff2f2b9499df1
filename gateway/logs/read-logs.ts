import { isEmptyBloom, readBloom } from "../../lib/chain/log-bloom.ts";
import type { LogPlace } from "./log-criteria.ts";

/** A log as it is matched, and as a validator wrote it: a text is made of it only where somebody wants it. */
export type Log = LogPlace & { written: object };

/** Which block the logs must be of: its hash, in lower case, and its `logsBloom`. */
export type LogsOf = { hash: string; logsBloom: unknown };

/**
 * Reads what `eth_getLogs` answered for a whole block. Undefined where it cannot be all logs of that block: of another
 * block, with a gap in their numbers, or none where the bloom filter has some (a validator that does not have the block
 * yet answers so).
 */
export function readBlockLogs(result: unknown, { hash, logsBloom }: LogsOf): Log[] | undefined {
  if (!Array.isArray(result)) return undefined;
  const logs: Log[] = [];
  for (const [index, value] of result.entries()) {
    const log = readLog(value);
    if (log === undefined || log.blockHash !== hash || log.logIndex !== index) return undefined;
    logs.push(log);
  }
  const bloom = readBloom(logsBloom);
  return bloom !== undefined && isEmptyBloom(bloom) !== (logs.length === 0) ? undefined : logs;
}

function readLog(value: unknown): (Log & { blockHash: string; logIndex: number }) | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  const { address, topics, blockHash, logIndex }: Readonly<Record<string, unknown>> = { ...value };
  if (typeof address !== "string" || typeof blockHash !== "string" || typeof logIndex !== "string")
    return undefined;
  if (!Array.isArray(topics) || !topics.every((topic) => typeof topic === "string")) return undefined;
  return {
    address: address.toLowerCase(),
    topics: topics.map((topic) => topic.toLowerCase()),
    blockHash: blockHash.toLowerCase(),
    logIndex: Number(logIndex),
    written: value,
  };
}
