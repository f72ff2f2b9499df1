import { isRefusal, type Refusal, refusal } from "../json-rpc/refusal.ts";
import { criteriaMembers, type LogCriteria, readLogCriteria } from "../logs/log-criteria.ts";

/** A filter of logs as it was made: `from` and `to` are undefined where it has no bound there. */
export type LogFilter = {
  criteria: LogCriteria;
  from: bigint | undefined;
  to: bigint | undefined;
  /** The filter object for `eth_getLogs`. */
  members: Readonly<Record<string, unknown>>;
};

/** Reads the parameter of `eth_newFilter`. */
export function readLogFilter(value: unknown): LogFilter | Refusal {
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    return refusal("invalid_params", "The first parameter must be a filter object");
  }
  const filter: Readonly<Record<string, unknown>> = { ...value };
  const { fromBlock = null, toBlock = null, blockHash = null } = filter;
  if (blockHash !== null) {
    return refusal(
      "invalid_params",
      "A filter has no blockHash: it tells what comes. Use eth_getLogs for a block",
    );
  }
  const criteria = readLogCriteria(filter);
  if (isRefusal(criteria)) return criteria;
  const [from, to] = [boundOf(fromBlock), boundOf(toBlock)];
  if (from === undefined || to === undefined) {
    return refusal(
      "invalid_params",
      "fromBlock and toBlock must each be a block number as 0x-prefixed hex, or a tag",
    );
  }
  return {
    criteria,
    from: from === "open" ? undefined : from,
    to: to === "open" ? undefined : to,
    members: {
      ...(fromBlock === null ? {} : { fromBlock }),
      ...(toBlock === null ? {} : { toBlock }),
      ...criteriaMembers(criteria),
    },
  };
}

/** `open` for a tag of the newest block: what comes is always newer. */
function boundOf(value: unknown): bigint | "open" | undefined {
  if (
    value === null ||
    value === "latest" ||
    value === "pending" ||
    value === "safe" ||
    value === "finalized"
  ) {
    return "open";
  }
  if (value === "earliest") return 0n;
  return typeof value === "string" && /^0x[0-9a-fA-F]{1,16}$/.test(value) ? BigInt(value) : undefined;
}
