import type { Logger } from "pino";
import type { WholeAnswer } from "../upstream-result.ts";
import type { FailureReason, UpstreamRequest } from "./connection.ts";
import { type Failover, mayBeItsEnd } from "./failover.ts";
import { longAnswerChars, noteAnswerLength, noteCallMs } from "./group-counts.ts";
import { type Lane, slowLane } from "./lanes.ts";
import { readResponse } from "./read-outcome.ts";
import type { UpstreamCall } from "./upstream-call.ts";
import type { Validator } from "./validator.ts";

/** After bad answers from so many validators a call is at fault itself: no validator is taken out for it. */
const blamedAnswersMax = 2;

/** So a proxy in front of a validator says that it has gone, or hangs. */
const proxyStatuses: ReadonlySet<number> = new Set([502, 504]);
/** Calls whose answers found no room so often are not asked again: what they would bring is in nobody's interest now. */
const noRoomMax = 3;

/** That nobody waits any more, or that an answer is too long or finds no room, is not its validator's fault. */
const blameless: ReadonlySet<FailureReason> = new Set(["unwanted", "too_large", "no_room"]);

/** What an answer, or none, means to the calls of a request and to the validator's health. */
export function createResponseHandler({
  lanes,
  failover,
  splitAfterMs,
  logger,
  now,
}: {
  lanes: readonly Lane[];
  failover: Failover;
  splitAfterMs: number;
  logger: Logger;
  now: () => number;
}) {
  function blame(request: UpstreamRequest, validator: Validator, reason: FailureReason): void {
    const [call] = request.calls;
    if (request.calls.length === 1 && call !== undefined && call.badAnswers >= blamedAnswersMax) return;
    validator.health.failed(reason, now());
  }

  function badAnswer(
    call: UpstreamCall,
    validator: Validator,
    reason: FailureReason,
    { alone }: { alone: boolean },
  ): void {
    call.badAnswers += 1;
    call.alone ||= alone;
    call.mayHaveArrived = true;
    failover.askAgain(call, validator, reason);
  }

  function settleAll(
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
        failover.finish(call, answer);
      } else {
        missing += 1;
        badAnswer(call, validator, "missing", { alone: true });
      }
    }
    validator.progressAtMs = nowMs;
    noteTime(request, nowMs);
    // What it answers long after it was given up says nothing about what it will answer now, only that arrays take so long.
    if (request.isAbandoned) {
      if (request.isMoved) lanes[request.lane]?.latency.add(nowMs - request.sentAtMs);
      return;
    }
    const tookMs = nowMs - request.sentAtMs;
    validator.lanes[request.lane]?.latency.add(tookMs);
    const lane = lanes[request.lane];
    lane?.latency.add(tookMs);
    if (lane !== undefined && tookMs < splitAfterMs / 2) lane.quickAnswerAtMs = nowMs;
    if (missing > 0) validator.health.failed("missing", nowMs);
    else validator.health.succeeded(nowMs);
  }

  /** Where arrays are of one key, what they took is known of its calls. */
  function noteTime({ calls, lane, sentAtMs }: UpstreamRequest, nowMs: number): void {
    if (lanes[lane]?.turns.isMixed !== false) return;
    const count = calls[0]?.counted;
    if (count !== undefined) noteCallMs(count, (nowMs - sentAtMs) / calls.length);
  }

  /** One error object for an array: one of its calls may have spoiled it, so that halves of it are asked. */
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
    failover.askInHalves(request, reason);
  }

  /** An error object that names no call: when a second validator says so too, it is the call's answer. */
  function refusedCall(request: UpstreamRequest, validator: Validator, error: WholeAnswer): void {
    const [call] = request.calls;
    if (call?.fallback !== undefined) failover.finish(call, error);
    else {
      if (call !== undefined) call.fallback = error;
      allBad(request, validator, "bad_answer");
    }
  }

  /**
   * Of an array each is asked alone. One that was alone is asked of one other, who may say it shorter if this one lies;
   * one of the slow lane is not: it costs a validator much.
   */
  function tooLarge(call: UpstreamCall, request: UpstreamRequest, validator: Validator): void {
    if (request.calls.length > 1) failover.askAlone(call, validator, "too_large");
    else if (call.tooLargeFrom !== -1 || request.lane === slowLane) failover.finish(call, "too_large");
    else {
      if (call.counted !== undefined) noteAnswerLength(call.counted, call.plan.rule.name, longAnswerChars);
      call.tooLargeFrom = validator.index;
      failover.askAgain(call, validator, "too_large");
    }
  }

  /** Another validator may have room left: each has a part of its own. */
  function noRoom(call: UpstreamCall, request: UpstreamRequest, validator: Validator): void {
    call.noRoom += 1;
    if (call.noRoom >= noRoomMax || request.lane === slowLane) failover.finish(call, "no_room");
    else if (request.calls.length > 1) failover.askAlone(call, validator, "no_room");
    else failover.askAgain(call, validator, "no_room");
  }

  function allBad(request: UpstreamRequest, validator: Validator, reason: FailureReason): void {
    blame(request, validator, reason);
    const [call] = request.calls;
    if (request.calls.length > 1) halve(request, reason);
    else if (call !== undefined) badAnswer(call, validator, reason, { alone: call.badAnswers > 0 });
  }

  return {
    answered(validator: Validator, request: UpstreamRequest, answer: { status: number; body: Buffer }): void {
      const outcome = readResponse(request.calls.length, answer);
      if (outcome.kind === "answers") settleAll(request, validator, outcome.answers);
      // Its calls are asked elsewhere already.
      else if (request.isAbandoned) return;
      else if (outcome.kind === "failed" && request.lane === slowLane && proxyStatuses.has(answer.status)) {
        blame(request, validator, outcome.reason);
        failover.failed(request, validator, "closed");
      } else if (outcome.kind === "failed") allBad(request, validator, outcome.reason);
      else if (request.calls.length > 1) refusedArray(request, validator);
      else refusedCall(request, validator, outcome.error);
    },

    failed(validator: Validator, request: UpstreamRequest, reason: FailureReason): void {
      logger.debug({ validator: validator.label, reason, calls: request.calls.length }, "validator failed");
      if (!blameless.has(reason)) validator.health.failed(reason, now());
      for (const call of request.calls) call.mayHaveArrived ||= request.hasLeft;
      if (request.isAbandoned) {
        failover.noteEnd(request, reason);
        return;
      }
      const isArray = request.calls.length > 1;
      if (reason === "too_large") {
        for (const call of request.calls) tooLarge(call, request, validator);
      } else if (reason === "no_room") {
        for (const call of request.calls) noRoom(call, request, validator);
        // It was read by the validator, and one of its calls may be what ended the connection.
      } else if (isArray && request.hasLeft && !mayBeItsEnd(request, reason))
        failover.askInHalves(request, reason);
      else failover.failed(request, validator, reason);
    },
  };
}
