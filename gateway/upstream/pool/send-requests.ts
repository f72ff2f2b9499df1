import type { PoolHead } from "./choose.ts";
import type { Connection, ConnectionEvents, UpstreamRequest } from "./connection.ts";
import type { FinishCall } from "./finish-call.ts";
import type { createResponseHandler } from "./handle-response.ts";
import type { Lane } from "./lanes.ts";
import { createRequestEvents } from "./request-events.ts";
import { composeBody, type UpstreamCall } from "./upstream-call.ts";
import { countRequest, takeConnection, type Validator } from "./validator.ts";

/** Makes the function that sends calls as one request, and hands its response to the response handler. */
export function createSendRequest({
  lanes,
  openConnection,
  responses,
  finish,
  head,
  isStopped,
  onFree,
  now,
}: {
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
  const eventsOf = createRequestEvents({ lanes, responses, finish, isStopped, onFree, now });
  const known = new WeakMap<Validator, ConnectionEvents>();

  /** The events of a validator's connections, the same for all of them. */
  function eventsFor(validator: Validator): ConnectionEvents {
    const events = known.get(validator) ?? eventsOf(validator);
    known.set(validator, events);
    return events;
  }

  return function sendRequest(calls: readonly UpstreamCall[], lane: Lane, validator: Validator): void {
    const validatorLane = validator.lanes[lane.index];
    if (calls.length === 0 || validatorLane === undefined) return;
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
    takeConnection(validatorLane, () => openConnection(validator, eventsFor(validator))).send(
      request,
      composeBody(calls),
    );
  };
}
