import { isStreamed, type WholeAnswer } from "../upstream-result.ts";
import type { AskOnly, SenderCall } from "./ask-only.ts";
import type { ValidatorDraw } from "./draw-validator.ts";

/** How long a second count of a sender's transactions is waited for. */
const secondCountWithinMs = 500;

/**
 * Makes the function that asks for the next nonce of a sender. The validator that gets the sender's transactions is asked;
 * if it fails, the one that would get them then. "unavailable": none answered.
 *
 * While senders move, because a validator was out or is behind, two are asked, and the higher count is the answer: the pool
 * that a sender comes to may not have heard of its latest transaction yet.
 */
export function createSenderNonces({
  validatorDraw,
  askOnly,
  now,
}: {
  validatorDraw: ValidatorDraw;
  askOnly: AskOnly;
  now: () => number;
}) {
  /** Asks the validators that a sender is drawn to, one after the other, until one answers. */
  async function askDrawn(
    sender: string,
    call: SenderCall,
  ): Promise<{ answer: WholeAnswer; tried: number } | "unavailable" | "crowded"> {
    let tried = 0;
    while (now() < call.deadlineMs) {
      const validator = validatorDraw.draw(sender, tried);
      if (validator === undefined) break;
      tried |= validator.bit;
      const { result } = await askOnly(validator, call, { alone: false });
      if (typeof result !== "string" && !isStreamed(result)) return { answer: result, tried };
      if (result === "crowded") return result;
    }
    return "unavailable";
  }

  return async function askOfSender(
    sender: string,
    call: SenderCall,
  ): Promise<WholeAnswer | "unavailable" | "crowded"> {
    const first = await askDrawn(sender, call);
    if (typeof first === "string" || validatorDraw.isCalm())
      return typeof first === "string" ? first : first.answer;
    const next = validatorDraw.draw(sender, first.tried);
    if (next === undefined || !validatorDraw.isSound(next)) return first.answer;
    const deadlineMs = Math.min(call.deadlineMs, now() + secondCountWithinMs);
    const { result } = await askOnly(next, { ...call, deadlineMs }, { alone: false });
    if (typeof result === "string" || isStreamed(result)) return first.answer;
    return countOf(result) > countOf(first.answer) ? result : first.answer;
  };
}

/** A quantity that a validator answered; -1 for anything else. */
function countOf({ afterId }: WholeAnswer): number {
  const digits = /"result"\s*:\s*"0x([0-9a-fA-F]{1,12})"/.exec(afterId)?.[1];
  return digits === undefined ? -1 : Number.parseInt(digits, 16);
}
