import type { Answer } from "../json-rpc/answer.ts";
import type { MethodRule } from "./method-table.ts";

/**
 * The number of the block that a result names, by the method table's `shows`; undefined if it names none, as that of a
 * transaction that is not mined.
 *
 * The first such member in the text is the one that is meant: in a block nothing inside has a member `number`, and
 * what is inside a receipt is of the same block as the receipt.
 */
export function shownBlock({ afterId }: Answer, { shows }: Pick<MethodRule, "shows">): number | undefined {
  if (shows === undefined) return undefined;
  const member = shows === "number" ? '"number":"0x' : '"blockNumber":"0x';
  const start = afterId.indexOf(member) + member.length;
  if (start < member.length) return undefined;
  const number = Number(`0x${afterId.slice(start, afterId.indexOf('"', start))}`);
  return Number.isSafeInteger(number) ? number : undefined;
}
