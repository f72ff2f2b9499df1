import { isStreamed, type Unanswered, type UpstreamResult, type WholeAnswer } from "../upstream-result.ts";
import { type PoolHead, tierOf } from "./choose.ts";
import type { Dispatcher } from "./dispatcher.ts";
import type { VerificationBudget } from "./null-verification-budget.ts";
import { createUpstreamCall, type MethodPlan } from "./upstream-call.ts";
import type { Validator } from "./validator.ts";

export type AskInTurn = ReturnType<typeof createAskInTurn>;

export type Question = {
  plan: MethodPlan;
  paramsText: string;
  deadlineMs: number;
  group: string | undefined;
  /** How many validators may have been ended by it: see `failover.failed`. */
  losses?: number;
};

/** So many validators are asked of any question; to go on from there counts against its key's budget. */
const askedOfAny = 2;

/**
 * Asks one validator after the other until one knows. A question is one call of its key at any moment: the next is asked
 * as the last one ends, so that whoever asks for what nobody has can ask no faster for it.
 */
export function createAskInTurn({
  validators,
  head,
  dispatcher,
  budget,
}: {
  validators: readonly Validator[];
  head: PoolHead;
  dispatcher: Pick<Dispatcher, "submit">;
  budget: VerificationBudget;
}) {
  function isAnybodyLeft(lane: number, excluded: number): boolean {
    return validators.some(
      (validator) => (validator.bit & excluded) === 0 && tierOf(validator, lane, head) <= 1,
    );
  }

  return function askInTurn(
    { plan, paramsText, deadlineMs, group, losses = 0 }: Question,
    {
      excluded,
      askedMax,
      knows,
      done,
    }: {
      /** Who was asked already, a bit each. */
      excluded: number;
      /** How many others are asked at most. */
      askedMax: number;
      knows: (answer: WholeAnswer, lastValidator: number) => boolean;
      /** Undefined where nobody who has the head knows, or may be asked; then `unmet` says why the last one gave no answer. */
      done: (answer: WholeAnswer | undefined, unmet?: Unanswered) => void;
    },
  ): void {
    let asked = excluded;
    let before = excluded === 0 ? 0 : 1;
    let left = askedMax;

    function next(): void {
      const mayGoOn = left > 0 && isAnybodyLeft(plan.lane, asked);
      if (!mayGoOn || (before === askedOfAny && !budget.take(group))) {
        done(undefined);
        return;
      }
      left -= 1;
      before += 1;
      const call = createUpstreamCall({ plan, paramsText, deadlineMs, group, tried: asked, settle: settled });
      // Nobody is asked for a second time.
      call.isSecondRound = true;
      call.losses = losses;
      call.alone = losses > 0;
      dispatcher.submit(call);
    }

    function settled(outcome: UpstreamResult, { lastValidator }: { lastValidator: number }): void {
      if (typeof outcome === "string") done(undefined, outcome);
      else if (isStreamed(outcome)) done(undefined);
      else if (knows(outcome, lastValidator)) done(outcome);
      else {
        asked |= validators[lastValidator]?.bit ?? 0;
        next();
      }
    }

    next();
  };
}
