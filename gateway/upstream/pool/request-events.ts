import type { Connection, ConnectionEvents, UpstreamRequest } from "./connection.ts";
import type { FinishCall } from "./finish-call.ts";
import { longAnswerChars, noteAnswerLength } from "./group-counts.ts";
import type { createResponseHandler } from "./handle-response.ts";
import { type Lane, slowLane } from "./lanes.ts";
import type { Validator } from "./validator.ts";

/** Makes the function that makes the events of a validator's connections: what each means for its request. */
export function createRequestEvents({
  lanes,
  responses,
  finish,
  isStopped,
  onFree,
  now,
}: {
  lanes: readonly Lane[];
  responses: ReturnType<typeof createResponseHandler>;
  finish: FinishCall;
  isStopped: () => boolean;
  /** A connection of the lane is free, and its request's calls are settled. */
  onFree: (lane: Lane) => void;
  now: () => number;
}) {
  return function requestEvents(validator: Validator): ConnectionEvents {
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
  };
}
