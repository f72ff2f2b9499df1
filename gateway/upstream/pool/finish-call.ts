import { isStreamed, type UpstreamResult } from "../upstream-result.ts";
import { isPlainResult } from "./classify-response.ts";
import type { UpstreamCall } from "./upstream-call.ts";
import type { Validator } from "./validator.ts";

export type FinishCall = ReturnType<typeof createFinishCall>;

/** Makes the function that settles a call, once, and blames the validators that its result convicts. */
export function createFinishCall({
  validators,
  now,
}: {
  validators: readonly Validator[];
  now: () => number;
}) {
  /** Where each call of a refused array is good alone, the validator refused good calls. */
  function findCulprit({ refusal }: UpstreamCall, result: UpstreamResult): void {
    if (refusal === undefined) return;
    const isGood = typeof result !== "string" && !isStreamed(result) && isPlainResult(result);
    refusal.left -= 1;
    refusal.hasCulprit ||= !isGood;
    if (refusal.left === 0 && !refusal.hasCulprit) {
      validators[refusal.validatorIndex]?.health.failed("array_refused", now());
    }
  }

  /** Where another validator's answer is short enough, the too long one was false. */
  function blameTooLarge({ tooLargeFrom, lastValidator }: UpstreamCall, result: UpstreamResult): void {
    if (typeof result === "string" || lastValidator === tooLargeFrom) return;
    validators[tooLargeFrom]?.health.failed("too_large", now());
  }

  return function finish(call: UpstreamCall, result: UpstreamResult): void {
    if (call.settled) return;
    call.settled = true;
    if (call.counted !== undefined) call.counted.underWay -= 1;
    if (call.refusal !== undefined) findCulprit(call, result);
    if (call.tooLargeFrom !== -1) blameTooLarge(call, result);
    call.settle(result === "unavailable" && call.noRoom > 0 ? "no_room" : result, call);
  };
}
