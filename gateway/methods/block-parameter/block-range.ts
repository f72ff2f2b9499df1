import type { Permission } from "../../../lib/keys/key-record.ts";
import { type Refusal, refusal } from "../../json-rpc/refusal.ts";
import { logValuesMax, tooManyValues } from "../../logs/log-criteria.ts";
import type { About } from "../call.ts";
import type { MethodRule } from "../method-table.ts";

/**
 * Holds a filter object (`eth_getLogs`, `trace_filter`) to the number of blocks that the key may ask for at once, and
 * puts the head's number where one of its ends means the latest block. `about` is its last block. `rule` is set if another
 * rule applies: a search of many blocks takes the slow lane, so that it holds up no quick call.
 *
 * The validator gets what was checked here: the parameters are written anew from the parsed value, so that a member that
 * was sent twice cannot mean one thing here and another there.
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
}): { paramsText: string; about: About; rule?: MethodRule } | Refusal {
  const params: unknown = JSON.parse(Buffer.from(paramsText, "latin1").toString("utf8"));
  const [filter, ...others]: readonly unknown[] = Array.isArray(params) ? params : [];
  if (typeof filter !== "object" || filter === null || Array.isArray(filter)) {
    return refusal("invalid_params", "The first parameter must be a filter object");
  }
  const members: Readonly<Record<string, unknown>> = { ...filter };
  if (countNamed(members) > logValuesMax) return tooManyValues;
  const { blockHash, fromBlock, toBlock } = members;
  if (blockHash !== undefined && blockHash !== null) {
    return (fromBlock ?? toBlock ?? undefined) === undefined
      ? { paramsText: textOf([members, ...others]), about: "fixed" }
      : refusal("invalid_params", "A filter has either blockHash or fromBlock and toBlock (EIP-234)");
  }
  const [from, to] = [blockOf(fromBlock), blockOf(toBlock)];
  if (from === undefined || to === undefined) {
    return refusal(
      "invalid_params",
      "fromBlock and toBlock must each be a block number as 0x-prefixed hex, or one of latest, earliest, pending, safe, finalized",
    );
  }
  const head = typeof from === "bigint" && typeof to === "bigint" ? 0n : headNumber();
  if (head === undefined && from !== to) {
    return refusal("upstream_unavailable", "The latest block is not known at the moment");
  }
  const [fromNumber, toNumber] = [numberOf(from, head), numberOf(to, head)];
  const blocks = (toNumber ?? 0n) - (fromNumber ?? 0n) + 1n;
  const best = permissions.includes("explorer") ? "explorer" : "rpc";
  const blocksMax = rule.blocksMax?.[best] ?? 0;
  if (blocks > blocksMax) {
    return refusal(
      "invalid_params",
      `The filter spans ${blocks} blocks; this API key may span ${blocksMax} at once`,
      { data: { blocksMax } },
    );
  }
  const ends = {
    ...(from === "latest" && head !== undefined ? { fromBlock: hex(head) } : {}),
    ...(to === "latest" && head !== undefined ? { toBlock: hex(head) } : {}),
  };
  const isOpen = from === "pending" || to === "pending" || toNumber === undefined;
  const travelling = travelsAs(rule, blocks);
  return {
    paramsText: textOf([{ ...members, ...ends }, ...others]),
    about: isOpen ? "open" : Number(toNumber),
    ...(travelling === rule ? {} : { rule: travelling }),
  };
}

/** A method's rule, or its rule for filters that span many blocks. */
export function travelsAs(rule: MethodRule, blocks: bigint): MethodRule {
  return rule.wide !== undefined && blocks > rule.wide.aboveBlocks ? rule.wide.rule : rule;
}

/** How many addresses and topics it names, invalid ones included. */
function countNamed({ address, topics, fromAddress, toAddress }: Readonly<Record<string, unknown>>): number {
  const places = Array.isArray(topics) ? topics : [];
  let count = 0;
  for (const values of [address, fromAddress, toAddress, ...places]) {
    if (Array.isArray(values)) count += values.length;
  }
  return count;
}

/** A tag that means the newest block to a filter, or one number; undefined for what is neither. */
function blockOf(value: unknown): bigint | "latest" | "pending" | undefined {
  if (value === undefined || value === null) return "latest";
  if (typeof value !== "string") return undefined;
  if (value === "latest" || value === "safe" || value === "finalized") return "latest";
  if (value === "pending") return "pending";
  if (value === "earliest") return 0n;
  return /^0x[0-9a-fA-F]{1,16}$/.test(value) ? BigInt(value) : undefined;
}

function numberOf(block: bigint | "latest" | "pending", head: bigint | undefined): bigint | undefined {
  return typeof block === "bigint" ? block : head;
}

function hex(number: bigint): string {
  return `0x${number.toString(16)}`;
}

function textOf(params: unknown): string {
  return Buffer.from(JSON.stringify(params), "utf8").toString("latin1");
}
