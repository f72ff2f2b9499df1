import type { CallToForward } from "../methods/call.ts";
import { shownBlock } from "../methods/shown-block.ts";
import type { AnnouncedHead } from "../upstream/announced-head.ts";
import {
  isStreamed,
  type UpstreamResult,
  usualBeforeId,
  type WholeAnswer,
} from "../upstream/upstream-result.ts";

const resultStart = ',"result":';
/** A revert (EIP-140) at a fixed block is the same each time; of other errors nobody knows. Besu, geth and anvil write 3. */
const revertStart = ',"error":{"code":3,';

/**
 * Whether an answer stays true: its validator had the head, and it is a value (`null` may mean "not yet"). A result that
 * names its block must name an announced one; a transaction that still waits names none.
 */
export function isCacheable(
  answer: UpstreamResult,
  { rule, about }: CallToForward,
  head: AnnouncedHead,
): answer is WholeAnswer {
  if (typeof answer === "string" || isStreamed(answer)) return false;
  const { beforeId, afterId } = answer;
  if (!answer.wasAtHead || beforeId !== usualBeforeId) return false;
  if (!afterId.startsWith(resultStart)) return afterId.startsWith(revertStart) && about !== "head";
  // The n of null, or a blank, which no validator writes here.
  const first = afterId.charCodeAt(resultStart.length);
  if (first === 0x6e || first <= 0x20) return false;
  if (rule.shows === undefined || typeof about === "number") return true;
  const shown = shownBlock(answer, rule);
  return shown !== undefined && shown <= head.number;
}
