import type { ChainBlock, ChainLog } from "./besu-blocks.ts";
import { isObject, type JsonObject, strings } from "./json.ts";

export type LogFilter = { addresses: Set<string>; topics: (Set<string> | undefined)[] };

/** `address` and `topics` of a filter object; nothing given matches everything. */
export function readLogFilter(criteria: unknown): LogFilter {
  const { address, topics } = isObject(criteria) ? criteria : {};
  return {
    addresses: lowerCased(address) ?? new Set(),
    topics: Array.isArray(topics) ? topics.map(lowerCased) : [],
  };
}

export function matchLogs(block: ChainBlock, filter: LogFilter): JsonObject[] {
  return block.logs.filter((log) => matches(log, filter)).map((log) => log.json);
}

function matches({ address, topics }: ChainLog, filter: LogFilter): boolean {
  if (filter.addresses.size > 0 && !filter.addresses.has(address)) return false;
  return filter.topics.every((wanted, index) => wanted === undefined || wanted.has(topics[index] ?? ""));
}

function lowerCased(value: unknown): Set<string> | undefined {
  const given = typeof value === "string" ? [value] : strings(value);
  return given.length === 0 ? undefined : new Set(given.map((item) => item.toLowerCase()));
}
