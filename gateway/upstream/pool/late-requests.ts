import type { FailureReason, UpstreamRequest } from "./connection.ts";
import { endingReasons, type Failover, mayBeItsEnd } from "./failover.ts";
import { slowLane } from "./lanes.ts";
import type { UpstreamCall } from "./upstream-call.ts";
import type { Validator } from "./validator.ts";

export type LateRequests = ReturnType<typeof createLateRequests>;

/** What happens to the calls of a request that is late: they are hedged, split up, moved or abandoned. */
export function createLateRequests({
  validators,
  failover,
}: {
  validators: readonly Validator[];
  failover: Failover;
}) {
  /** The request's calls are retried elsewhere. It keeps its connection, because the validator goes on with it. */
  function setAbandoned(request: UpstreamRequest, validator: Validator): void {
    request.isAbandoned = true;
    if (request.isHalfOpen) validator.halfOpenRequests -= 1;
    for (const call of request.calls) {
      call.inFlight -= 1;
      call.mayHaveArrived ||= request.hasLeft;
    }
  }

  return {
    /**
     * Sends the calls of a late request to another validator too, as far as `mayHedge` allows. The request stays in flight,
     * and the first answer counts.
     */
    hedge(request: UpstreamRequest, mayHedge: () => boolean): void {
      const validator = validators[request.validatorIndex];
      request.isHedged = true;
      for (const call of request.calls) {
        if (validator === undefined || !isOnlyIn(call) || call.target !== undefined || call.losses > 0)
          continue;
        if (!mayHedge()) continue;
        validator.stats.hedgedCalls += 1;
        failover.queueAgain(call);
      }
    },

    /** Retries the calls of a late array in halves. The array's own answer still counts if it comes. */
    splitUp(request: UpstreamRequest): void {
      const validator = validators[request.validatorIndex];
      if (request.isAbandoned || validator === undefined) return;
      request.isMoved = true;
      setAbandoned(request, validator);
      failover.retryInHalves(request, "late");
    },

    /** Retries a lone call that is so late that its answer may never come. */
    move(request: UpstreamRequest): void {
      const validator = validators[request.validatorIndex];
      request.isMoved = true;
      for (const call of request.calls) {
        if (validator === undefined || !isOnlyIn(call)) continue;
        call.mayHaveArrived ||= request.hasLeft;
        if (call.target !== undefined) failover.retry(call, validator, "late");
        else {
          validator.stats.failures.late += 1;
          failover.queueAgain(call);
        }
      }
    },

    /** Gives a request up and moves its calls to other validators. */
    abandon(request: UpstreamRequest, reason: FailureReason): void {
      const validator = validators[request.validatorIndex];
      if (request.isAbandoned || validator === undefined) return;
      // The validator still runs the call, which goes to no other: its answer may come yet.
      if (request.lane === slowLane && !endingReasons.has(reason)) return;
      setAbandoned(request, validator);
      failover.requestFailed(request, validator, reason);
    },

    /** An array that was split up ended with its validator: one of its calls may have ended it. */
    noteEnd(request: UpstreamRequest, reason: FailureReason): void {
      if (request.calls.length === 1 || !request.isMoved || !mayBeItsEnd(request, reason)) return;
      for (const call of request.calls) {
        call.losses += 1;
        call.alone = true;
      }
    },
  };
}

/** Whether the call is in one request only, and in no queue. */
function isOnlyIn(call: UpstreamCall): boolean {
  return !call.settled && !call.isWaiting && call.inFlight === 1;
}
