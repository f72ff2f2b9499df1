import type { WholeAnswer } from "../upstream-result.ts";
import type { FailureReason, UpstreamRequest } from "./connection.ts";
import type { FinishCall } from "./finish-call.ts";
import { noteAnswerLength, noteCallMs } from "./group-counts.ts";
import type { Lane } from "./lanes.ts";
import type { UpstreamCall } from "./upstream-call.ts";
import type { Validator } from "./validator.ts";

/** Makes the function that settles the calls of a request with its answers, and notes how long the validator took. */
export function createSettleAnswers({
  lanes,
  finish,
  badAnswer,
  splitAfterMs,
  now,
}: {
  lanes: readonly Lane[];
  finish: FinishCall;
  badAnswer: (call: UpstreamCall, validator: Validator, reason: FailureReason, alone: boolean) => void;
  splitAfterMs: number;
  now: () => number;
}) {
  /** Where arrays are of one key, their time tells how long the key's calls take. */
  function noteGroupTime({ calls, lane, sentAtMs }: UpstreamRequest, nowMs: number): void {
    if (lanes[lane]?.turns.isMixed !== false) return;
    const count = calls[0]?.counted;
    if (count !== undefined) noteCallMs(count, (nowMs - sentAtMs) / calls.length);
  }

  function noteLatency(request: UpstreamRequest, validator: Validator, nowMs: number): void {
    const tookMs = nowMs - request.sentAtMs;
    const lane = lanes[request.lane];
    validator.lanes[request.lane]?.latency.add(tookMs);
    lane?.latency.add(tookMs);
    if (lane !== undefined && tookMs < splitAfterMs / 2) lane.quickAnswerAtMs = nowMs;
  }

  /** `answers` are in the calls' order; undefined where the validator left one out. */
  return function settleAnswers(
    request: UpstreamRequest,
    validator: Validator,
    answers: readonly (WholeAnswer | undefined)[],
  ): void {
    const nowMs = now();
    let missing = 0;
    for (let index = 0; index < request.calls.length; index += 1) {
      const call = request.calls[index];
      const answer = answers[index];
      if (call === undefined) continue;
      call.lastValidator = validator.index;
      if (answer !== undefined) {
        answer.validator = validator.label;
        answer.wasAtHead = request.isAtHead;
        if (call.counted !== undefined)
          noteAnswerLength(call.counted, call.plan.rule.name, answer.afterId.length);
        finish(call, answer);
      } else {
        missing += 1;
        badAnswer(call, validator, "missing", true);
      }
    }
    validator.progressAtMs = nowMs;
    noteGroupTime(request, nowMs);
    if (request.isAbandoned) {
      // An answer to a request that was given up says nothing about the validator's next one, only how long such arrays take.
      if (request.isMoved) lanes[request.lane]?.latency.add(nowMs - request.sentAtMs);
      return;
    }
    noteLatency(request, validator, nowMs);
    if (missing > 0) validator.health.failed("missing", nowMs);
    else validator.health.succeeded(nowMs);
  };
}
