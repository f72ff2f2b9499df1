import type { PoolHead } from "./choose.ts";
import type { Connection, ConnectionEvents, UpstreamRequest } from "./connection.ts";
import type { FinishCall } from "./finish-call.ts";
import { longAnswerChars, noteAnswerLength } from "./group-counts.ts";
import type { createResponseHandler } from "./handle-response.ts";
import { type Lane, slowLane } from "./lanes.ts";
import { composeBody, type UpstreamCall } from "./upstream-call.ts";
import { countRequest, takeConnection, type Validator } from "./validator.ts";

/** Makes the function that sends calls as one request, and hands its response to the response handler. */
export function createSendRequest({
  validators,
  lanes,
  openConnection,
  responses,
  finish,
  head,
  isStopped,
  onFree,
  now,
}: {
  validators: readonly Validator[];
  lanes: readonly Lane[];
  openConnection: (validator: Validator, events: ConnectionEvents) => Connection;
  responses: ReturnType<typeof createResponseHandler>;
  finish: FinishCall;
  head: Pick<PoolHead, "isEligible">;
  isStopped: () => boolean;
  /** A connection of the lane is free, and its request's calls are settled. */
  onFree: (lane: Lane) => void;
  now: () => number;
}) {
  const events = validators.map(connectionEvents);

  function connectionEvents(validator: Validator): ConnectionEvents {
    /** Frees the connection before the calls are settled. Undefined after the end, when nothing is settled any more. */
    function release(connection: Connection, request: UpstreamRequest): Lane | undefined {
      const lane = lanes[request.lane];
      if (lane === undefined || isStopped()) return undefined;
      validator.lanes[request.lane]?.free.push(connection);
      if (request.isAbandoned) return lane;
      if (request.isHalfOpen) validator.halfOpenRequests -= 1;
      for (const call of request.calls) call.inFlight -= 1;
      return lane;
    }

    return {
      bytesCame(request) {
        // A byte of a long answer is progress. A short answer is there as a whole, or not at all.
        if (request.lane === slowLane) validator.progressAtMs = now();
      },
      answered(connection, request, response) {
        const lane = release(connection, request);
        if (lane === undefined) return;
        responses.answered(validator, request, response);
        onFree(lane);
      },
      failed(connection, request, reason) {
        const lane = release(connection, request);
        if (lane === undefined) return;
        responses.failed(validator, request, reason);
        onFree(lane);
      },
      streamBegan(request, answer) {
        const nowMs = now();
        validator.health.succeeded(nowMs);
        // The time to the first bytes: what follows is the reader's time.
        validator.lanes[request.lane]?.latency.add(nowMs - request.sentAtMs);
        lanes[request.lane]?.latency.add(nowMs - request.sentAtMs);
        answer.validator = validator.label;
        const [call] = request.calls;
        if (call === undefined) return;
        if (call.counted !== undefined) noteAnswerLength(call.counted, call.plan.rule.name, longAnswerChars);
        finish(call, answer);
      },
      streamEnded(connection, request) {
        const lane = release(connection, request);
        if (lane !== undefined) onFree(lane);
      },
    };
  }

  return function sendRequest(calls: readonly UpstreamCall[], lane: Lane, validator: Validator): void {
    const validatorLane = validator.lanes[lane.index];
    const validatorEvents = events[validator.index];
    if (calls.length === 0 || validatorLane === undefined || validatorEvents === undefined) return;
    const sentAtMs = now();
    let timeoutMs = 0;
    for (const call of calls) {
      call.isWaiting = false;
      call.mayRepeat = false;
      call.sentAtMs = sentAtMs;
      call.tried |= validator.bit;
      call.inFlight += 1;
      call.lastValidator = validator.index;
      if (call.plan.rule.timeoutMs > timeoutMs) timeoutMs = call.plan.rule.timeoutMs;
    }
    const isHalfOpen = validator.health.state() !== "closed";
    if (isHalfOpen) validator.halfOpenRequests += 1;
    const request: UpstreamRequest = {
      validatorIndex: validator.index,
      lane: lane.index,
      calls,
      sentAtMs,
      endsAtMs: sentAtMs + timeoutMs,
      isHalfOpen,
      isAtHead: head.isEligible(validator.label),
      hasLeft: false,
      isHedged: false,
      isMoved: false,
      isAbandoned: false,
    };
    countRequest(validator.stats, request);
    takeConnection(validatorLane, () => openConnection(validator, validatorEvents)).send(
      request,
      composeBody(calls),
    );
  };
}
