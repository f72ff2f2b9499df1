import type { MethodRule, Permission } from "./method-table.ts";
import { type Refusal, refusal } from "./refusal.ts";

/**
 * Holds a filter object (`eth_getLogs`, `trace_filter`) to the number of blocks that the key may ask for at once.
 *
 * What was checked is what is forwarded: the parameters are written anew from the parsed value, so that a member that
 * was sent twice cannot mean one thing here and another to the validator.
 */
export function checkBlockRange({
  rule,
  paramsText,
  permissions,
  headNumber,
}: {
  rule: MethodRule;
  /** A JSON array as the bytes of UTF-8, one a character. */
  paramsText: string;
  permissions: readonly Permission[];
  headNumber: () => bigint | undefined;
}): { paramsText: string } | Refusal {
  const params: unknown = JSON.parse(Buffer.from(paramsText, "latin1").toString("utf8"));
  const filter: unknown = Array.isArray(params) ? params[0] : undefined;
  if (typeof filter !== "object" || filter === null || Array.isArray(filter)) {
    return refusal("invalid_params", "The first parameter must be a filter object");
  }
  const members: Readonly<Record<string, unknown>> = { ...filter };
  const canonical = { paramsText: Buffer.from(JSON.stringify(params), "utf8").toString("latin1") };
  const { blockHash, fromBlock, toBlock } = members;
  if (blockHash !== undefined && blockHash !== null) {
    return (fromBlock ?? toBlock ?? undefined) === undefined
      ? canonical
      : refusal("invalid_params", "A filter has either blockHash or fromBlock and toBlock (EIP-234)");
  }
  const [from, to] = [blockOf(fromBlock), blockOf(toBlock)];
  if (from === undefined || to === undefined) {
    return refusal(
      "invalid_params",
      "fromBlock and toBlock take a block number as 0x-prefixed hex, or latest, earliest, pending, safe, finalized",
    );
  }
  if (from === to) return canonical;
  const head = from === "head" || to === "head" ? headNumber() : 0n;
  if (head === undefined)
    return refusal("upstream_unavailable", "No validator tells the latest block at the moment");
  const blocks = (to === "head" ? head : to) - (from === "head" ? head : from) + 1n;
  const best = permissions.includes("explorer") ? "explorer" : "rpc";
  const blocksMax = rule.blocksMax?.[best] ?? 0;
  if (blocks <= blocksMax) return canonical;
  return refusal(
    "invalid_params",
    `The filter spans ${blocks} blocks; this API key may ask for ${blocksMax} at once`,
    {
      data: { blocksMax },
    },
  );
}

/** A tag that means the newest block to a filter, or one number; undefined for what is neither. */
function blockOf(value: unknown): bigint | "head" | undefined {
  if (value === undefined || value === null) return "head";
  if (typeof value !== "string") return undefined;
  if (value === "latest" || value === "pending" || value === "safe" || value === "finalized") return "head";
  if (value === "earliest") return 0n;
  return /^0x[0-9a-fA-F]{1,16}$/.test(value) ? BigInt(value) : undefined;
}
