import { isStreamed, type WholeAnswer } from "../upstream-result.ts";
import type { AskOnly, SenderCall } from "./ask-only.ts";
import type { ValidatorDraw } from "./draw-validator.ts";
import type { Validator } from "./validator.ts";

/** How long the other validators' counts are waited for. */
const otherCountsWithinMs = 500;

/**
 * Makes the function that asks for the next nonce of a sender. The validator that gets the sender's transactions is asked;
 * if it fails, the one that would get them then. "unavailable": none answered.
 *
 * Others are asked at the same time (`ValidatorDraw.others`), and the highest count is the answer. Gateways learn of a
 * validator's trouble at different moments: one may have sent the latest transaction to the next validator already, while
 * this one still draws the first, which hears of it only by gossip.
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
  ): Promise<WholeAnswer | "unavailable" | "crowded"> {
    let tried = 0;
    while (now() < call.deadlineMs) {
      const validator = validatorDraw.draw(sender, tried);
      if (validator === undefined) break;
      tried |= validator.bit;
      const { result } = await askOnly(validator, call, { alone: false });
      if (typeof result !== "string" && !isStreamed(result)) return result;
      if (result === "crowded") return result;
    }
    return "unavailable";
  }

  /** Undefined where it does not answer in time. */
  async function askOther(other: Validator, call: SenderCall): Promise<WholeAnswer | undefined> {
    const deadlineMs = Math.min(call.deadlineMs, now() + otherCountsWithinMs);
    const { result } = await askOnly(other, { ...call, deadlineMs }, { alone: false });
    return typeof result === "string" || isStreamed(result) ? undefined : result;
  }

  return async function askOfSender(
    sender: string,
    call: SenderCall,
  ): Promise<WholeAnswer | "unavailable" | "crowded"> {
    const asked = validatorDraw.others(sender).map((other) => askOther(other, call));
    const [first, ...others] = await Promise.all([askDrawn(sender, call), ...asked]);
    if (first === "crowded") return first;
    return others.reduce<WholeAnswer | "unavailable">(higherCount, first);
  };
}

function higherCount(
  one: WholeAnswer | "unavailable",
  other: WholeAnswer | undefined,
): WholeAnswer | "unavailable" {
  if (other === undefined) return one;
  return one === "unavailable" || countOf(other) > countOf(one) ? other : one;
}

/** A quantity that a validator answered; -1 for anything else. */
function countOf({ afterId }: WholeAnswer): number {
  const digits = /"result"\s*:\s*"0x([0-9a-fA-F]{1,12})"/.exec(afterId)?.[1];
  return digits === undefined ? -1 : Number.parseInt(digits, 16);
}
