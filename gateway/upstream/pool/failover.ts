import type { FailureReason, UpstreamRequest } from "./connection.ts";
import type { FinishCall } from "./finish-call.ts";
import { type Lane, lightLane, slowLane } from "./lanes.ts";
import type { PoolSettings } from "./pool-settings.ts";
import { createRetryQueue } from "./retry-queue.ts";
import type { UpstreamCall } from "./upstream-call.ts";
import type { Validator } from "./validator.ts";

export type Failover = ReturnType<typeof createFailover>;

/** Retries calls that a validator failed: at another validator, in shorter arrays, alone, or not at all. */
export function createFailover({
  validators,
  lanes,
  settings,
  finish,
  flushSoon,
  now,
}: {
  validators: readonly Validator[];
  lanes: readonly Lane[];
  settings: Pick<PoolSettings, "runMsMax">;
  finish: FinishCall;
  flushSoon: () => void;
  now: () => number;
}) {
  const { queueAgain, queueAtTarget, queueFresh } = createRetryQueue({ lanes, flushSoon });

  /** A validator failed the call: another one gets it, unless another one has it already or none may get it. */
  function retry(call: UpstreamCall, validator: Validator, reason: FailureReason): void {
    if (call.settled) return;
    validator.stats.failures[reason] += 1;
    if (call.target !== undefined) finish(call, "unavailable");
    else if (call.inFlight === 0) queueAgain(call);
  }

  /**
   * A request ended, or is given up, without its answers. One of its calls may have ended the validator, so its harm is
   * bounded here. A call of the slow lane never goes to another validator. A call that runs the EVM goes to one other,
   * alone, unless it ran for long. Light calls end no validator.
   */
  function requestFailed(request: UpstreamRequest, validator: Validator, reason: FailureReason): void {
    if (!request.hasLeft || !mayBeItsEnd(request, reason)) {
      for (const call of request.calls) {
        const isUnsent = request.lane === slowLane && call.target !== undefined && !request.hasLeft;
        if (isUnsent) finish(call, "unsent");
        else retry(call, validator, reason);
      }
      return;
    }
    const ranMs = (reason === "hung" ? validator.progressAtMs : now()) - request.sentAtMs;
    const isCulprit = request.calls.length === 1 && ranMs >= settings.runMsMax;
    let before: UpstreamCall | undefined;
    for (const call of request.calls) {
      if (call.settled) continue;
      call.losses += 1;
      call.alone = true;
      if (call.inFlight > 0) continue;
      if (request.lane === slowLane || isCulprit || call.losses > 1) {
        validator.stats.failures[reason] += 1;
        finish(call, "lost");
      } else {
        // One after the other, so that the culprit takes no neighbour with it again.
        call.waitsFor = before;
        before = call;
        retry(call, validator, reason);
      }
    }
  }

  /**
   * An array failed or is late. Its calls are retried in halves, then the failing half in halves, until the culprit stands
   * alone; each call is sent about twice as often as otherwise. Here each call only gets an `arrayMax`, by which take-array.ts
   * makes the shorter arrays. The same validator may get them again, on another
   * connection, because each array is a new one. Calls that another validator has had since stay with that one.
   *
   * Calls that run the EVM are retried alone at once: with each further round the culprit would run at one validator more.
   */
  function retryInHalves(request: UpstreamRequest, reason: FailureReason): void {
    const validator = validators[request.validatorIndex];
    const open = request.calls.filter((call) => !call.settled && call.sentAtMs === request.sentAtMs);
    if (validator === undefined) return;
    const half = request.lane === lightLane ? Math.ceil(open.length / 2) : 1;
    for (const call of open) {
      call.arrayMax = Math.min(call.arrayMax, half);
      call.mayRepeat = true;
      validator.stats.failures[reason] += 1;
      if (call.target === undefined) queueAgain(call);
      else if (validator.health.state() === "open") finish(call, "unavailable");
      else queueAtTarget(call, validator);
    }
  }

  /**
   * Retries a call of an array whose answers together are too long: alone, and in turn with the calls of other keys. The
   * lane's `again` would go first, and a hundred long answers there would hold up everybody. Any validator may get it,
   * since none refused it.
   */
  function retryAlone(call: UpstreamCall, validator: Validator, reason: FailureReason): void {
    call.alone = true;
    call.badAnswers += 1;
    call.mayHaveArrived = true;
    if (call.settled || call.target !== undefined || call.inFlight > 0 || call.isWaiting) {
      retry(call, validator, reason);
      return;
    }
    validator.stats.failures[reason] += 1;
    queueFresh(call);
  }

  return { queueAgain, retry, requestFailed, retryInHalves, retryAlone };
}

/** How it looks when a call ends its validator. After any other failure the validator still answers. */
export const endingReasons: ReadonlySet<FailureReason> = new Set(["connect", "closed", "timeout", "hung"]);

/** Whether one of a request's calls may have ended the validator. Light calls do not. */
export function mayBeItsEnd({ lane }: UpstreamRequest, reason: FailureReason): boolean {
  return lane !== lightLane && endingReasons.has(reason);
}
