import type { Logger } from "pino";
import { createBadAnswers } from "./bad-answers.ts";
import type { FailureReason, UpstreamRequest } from "./connection.ts";
import { type Failover, mayBeItsEnd } from "./failover.ts";
import type { FinishCall } from "./finish-call.ts";
import { longAnswerChars, noteAnswerLength } from "./group-counts.ts";
import { type Lane, slowLane } from "./lanes.ts";
import type { LateRequests } from "./late-requests.ts";
import { readResponse } from "./read-response.ts";
import { createSettleAnswers } from "./settle-answers.ts";
import type { UpstreamCall } from "./upstream-call.ts";
import type { Validator } from "./validator.ts";

/** A proxy in front of a validator says so that the validator has gone, or hangs. */
const proxyStatuses: ReadonlySet<number> = new Set([502, 504]);

/** A call whose answers found no room so often is not retried. */
const noRoomMax = 3;

/** Not the validator's fault: nobody waits any more, or the answer is too long or finds no room. */
const blameless: ReadonlySet<FailureReason> = new Set(["unwanted", "too_large", "no_room"]);

/** Decides what a response, or its failure, means for the calls of a request and for the validator's health. */
export function createResponseHandler({
  lanes,
  finish,
  failover,
  lateRequests,
  splitAfterMs,
  logger,
  now,
}: {
  lanes: readonly Lane[];
  finish: FinishCall;
  failover: Failover;
  lateRequests: Pick<LateRequests, "noteEnd">;
  splitAfterMs: number;
  logger: Logger;
  now: () => number;
}) {
  const { badAnswer, refusedArray, refusedCall, allBad, blame } = createBadAnswers({ finish, failover, now });
  const settleAnswers = createSettleAnswers({ lanes, finish, badAnswer, splitAfterMs, now });

  /**
   * The calls of an array are retried alone. A lone call goes to one other validator, whose answer may be shorter if this
   * one lies; a call of the slow lane does not, because it costs a validator much.
   */
  function tooLarge(call: UpstreamCall, request: UpstreamRequest, validator: Validator): void {
    if (request.calls.length > 1) failover.retryAlone(call, validator, "too_large");
    else if (call.tooLargeFrom !== -1 || request.lane === slowLane) finish(call, "too_large");
    else {
      if (call.counted !== undefined) noteAnswerLength(call.counted, call.plan.rule.name, longAnswerChars);
      call.tooLargeFrom = validator.index;
      failover.retry(call, validator, "too_large");
    }
  }

  /** Each validator has room of its own, so another one may have some left. */
  function noRoom(call: UpstreamCall, request: UpstreamRequest, validator: Validator): void {
    call.noRoom += 1;
    if (call.noRoom >= noRoomMax || request.lane === slowLane) finish(call, "no_room");
    else if (request.calls.length > 1) failover.retryAlone(call, validator, "no_room");
    else failover.retry(call, validator, "no_room");
  }

  return {
    answered(
      validator: Validator,
      request: UpstreamRequest,
      response: { status: number; body: Buffer },
    ): void {
      const read = readResponse(request.calls.length, response);
      if (read.kind === "answers") settleAnswers(request, validator, read.answers);
      // The calls of an abandoned request are retried elsewhere already.
      else if (request.isAbandoned) return;
      else if (read.kind === "failed" && request.lane === slowLane && proxyStatuses.has(response.status)) {
        blame(request, validator, read.reason);
        failover.requestFailed(request, validator, "closed");
      } else if (read.kind === "failed") allBad(request, validator, read.reason);
      else if (request.calls.length > 1) refusedArray(request, validator);
      else refusedCall(request, validator, read.error);
    },

    failed(validator: Validator, request: UpstreamRequest, reason: FailureReason): void {
      const { calls } = request;
      logger.debug({ validator: validator.label, reason, calls: calls.length }, "validator failed");
      if (!blameless.has(reason)) validator.health.failed(reason, now());
      for (const call of calls) call.mayHaveArrived ||= request.hasLeft;
      if (request.isAbandoned) lateRequests.noteEnd(request, reason);
      else if (reason === "too_large") for (const call of calls) tooLarge(call, request, validator);
      else if (reason === "no_room") for (const call of calls) noRoom(call, request, validator);
      // The validator has read the array, and one of its calls may have ended the connection.
      else if (calls.length > 1 && request.hasLeft && !mayBeItsEnd(request, reason)) {
        failover.retryInHalves(request, reason);
      } else failover.requestFailed(request, validator, reason);
    },
  };
}
