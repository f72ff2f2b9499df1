import type { ByteText } from "../../json-rpc/answer.ts";
import type { MethodRule } from "../../methods/method-table.ts";
import type { ResponseClass } from "./classify-response.ts";

/** The words of Besu and anvil for a block, or its state, that they do not have. */
const unknownBlockWords =
  /^(unknown block|block not found|header not found|resource not found|invalid block param \(block not found\)|world state (un|not )available|blockoutofrangeerror)/i;

/** Whether the answer says that the block is not there: by `null`, or in the validator's words. */
export function saysUnknownBlock(response: ResponseClass): boolean {
  return response.kind === "null" || (response.kind === "error" && unknownBlockWords.test(response.message));
}

/**
 * Whether the block that a call is about must exist. It is named by a number at or below the head, or by a hash, which the
 * client can only have from a validator.
 */
export function blockMustExist({
  rule,
  paramsText,
  head,
}: {
  rule: MethodRule;
  paramsText: ByteText;
  head: bigint | undefined;
}): boolean {
  if (rule.block === undefined || head === undefined) return false;
  const params: unknown = JSON.parse(Buffer.from(paramsText, "latin1").toString("utf8"));
  if (!Array.isArray(params)) return false;
  const { at } = rule.block;
  const named: unknown[] = at === "filter" ? blocksOfFilter(params[0]) : [params[at]];
  return named.every((block) => mustExist(block, head));
}

function blocksOfFilter(filter: unknown): unknown[] {
  if (!isRecord(filter)) return [undefined];
  const { blockHash, fromBlock, toBlock } = filter;
  return blockHash === undefined ? [fromBlock, toBlock] : [blockHash];
}

/** EIP-1898 lets an object name a block by number or hash. */
function mustExist(block: unknown, head: bigint): boolean {
  if (isRecord(block)) return mustExist(block["blockHash"] ?? block["blockNumber"], head);
  if (typeof block !== "string" || !/^0x[0-9a-fA-F]{1,64}$/.test(block)) return false;
  return block.length === 66 || BigInt(block) <= head;
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
