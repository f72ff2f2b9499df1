import type { CallToForward } from "../methods/call.ts";
import { shownBlock } from "../methods/shown-block.ts";
import type { AnnouncedHead } from "../upstream/upstream.ts";
import {
  isStreamed,
  type UpstreamResult,
  usualBeforeId,
  type WholeAnswer,
} from "../upstream/upstream-result.ts";

const resultStart = ',"result":';
/** A revert (EIP-140) at a fixed block comes again; no other error says so of itself. Besu, geth and anvil write 3. */
const revertStart = ',"error":{"code":3,';

/**
 * Whether an answer to this call stays true: told by a validator that had the head, and a value. `null` may only mean
 * "not yet". What tells its block is of one that is announced: a transaction that still waits tells none.
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
  // n of null, or a blank before whatever comes: no validator writes that.
  const first = afterId.charCodeAt(resultStart.length);
  if (first === 0x6e || first <= 0x20) return false;
  if (rule.shows === undefined || typeof about === "number") return true;
  const shown = shownBlock(answer, rule);
  return shown !== undefined && shown <= head.number;
}
