import type { WholeAnswer } from "../upstream-result.ts";
import type { FailureReason, UpstreamRequest } from "./connection.ts";
import type { Failover } from "./failover.ts";
import type { FinishCall } from "./finish-call.ts";
import type { UpstreamCall } from "./upstream-call.ts";
import type { Validator } from "./validator.ts";

/** After bad answers from so many validators the call is at fault: no further validator is blamed for it. */
const blamedAnswersMax = 2;

/** What follows from an answer that does not answer its call, for the call and for the validator's health. */
export function createBadAnswers({
  finish,
  failover,
  now,
}: {
  finish: FinishCall;
  failover: Pick<Failover, "retry" | "retryInHalves">;
  now: () => number;
}) {
  function badAnswer(call: UpstreamCall, validator: Validator, reason: FailureReason, alone: boolean): void {
    call.badAnswers += 1;
    call.alone ||= alone;
    call.mayHaveArrived = true;
    failover.retry(call, validator, reason);
  }

  /** One error object for a whole array: one of its calls may have spoiled it, so it is retried in halves. */
  function refusedArray(request: UpstreamRequest, validator: Validator): void {
    const open = request.calls.filter((call) => !call.settled);
    const refusal = { validatorIndex: validator.index, left: open.length, hasCulprit: false };
    for (const call of open) {
      call.refusal ??= refusal;
      if (call.refusal !== refusal) refusal.hasCulprit = true;
    }
    halve(request, "array_refused");
  }

  function halve(request: UpstreamRequest, reason: FailureReason): void {
    for (const call of request.calls) {
      if (call.settled) continue;
      call.badAnswers += 1;
      call.mayHaveArrived = true;
    }
    failover.retryInHalves(request, reason);
  }

  /** An error object that names no call. Once a second validator sends one, it is the call's answer. */
  function refusedCall(request: UpstreamRequest, validator: Validator, error: WholeAnswer): void {
    const [call] = request.calls;
    if (call?.fallback !== undefined) finish(call, error);
    else {
      if (call !== undefined) call.fallback = error;
      allBad(request, validator, "bad_answer");
    }
  }

  function allBad(request: UpstreamRequest, validator: Validator, reason: FailureReason): void {
    blame(request, validator, reason);
    const [call] = request.calls;
    if (request.calls.length > 1) halve(request, reason);
    else if (call !== undefined) badAnswer(call, validator, reason, call.badAnswers > 0);
  }

  function blame(request: UpstreamRequest, validator: Validator, reason: FailureReason): void {
    const [call] = request.calls;
    if (request.calls.length === 1 && call !== undefined && call.badAnswers >= blamedAnswersMax) return;
    validator.health.failed(reason, now());
  }

  return { badAnswer, refusedArray, refusedCall, allBad, blame };
}
