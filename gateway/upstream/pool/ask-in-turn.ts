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
  /** How many validators the call may have ended: see `createFailover`. */
  losses?: number;
};

/** Any question may go to so many validators. Each further one counts against its key's budget. */
const askedOfAny = 2;

/**
 * Asks one validator after the other until one knows the answer. A question is one call of its key at any moment: the next
 * validator gets it when the last one has answered, so questions that nobody can answer go no faster.
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
      /** Validators that have had the question, a bit each. */
      excluded: number;
      /** How many others get it at most. */
      askedMax: number;
      knows: (answer: WholeAnswer, lastValidator: number) => boolean;
      /** `answer` is undefined where no validator that has the head knows, or may be asked. `why`: the last one's failure. */
      done: (answer: WholeAnswer | undefined, why?: Unanswered) => void;
    },
  ): void {
    let tried = excluded;
    let before = excluded === 0 ? 0 : 1;
    let left = askedMax;

    function next(): void {
      const mayGoOn = left > 0 && isAnybodyLeft(plan.lane, tried);
      if (!mayGoOn || (before === askedOfAny && !budget.take(group))) {
        done(undefined);
        return;
      }
      left -= 1;
      before += 1;
      const call = createUpstreamCall({ plan, paramsText, deadlineMs, group, tried, settle: settled });
      // No validator gets it a second time.
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
        tried |= validators[lastValidator]?.bit ?? 0;
        next();
      }
    }

    next();
  };
}
