import { isStreamed, type UpstreamResult } from "../upstream-result.ts";
import { isPlainResult } from "./classify-response.ts";
import type { FailureReason, UpstreamRequest } from "./connection.ts";
import { type Lane, lightLane, slowLane } from "./lanes.ts";
import type { PoolSettings } from "./pool-settings.ts";
import type { UpstreamCall } from "./upstream-call.ts";
import type { Validator } from "./validator.ts";

export type Failover = ReturnType<typeof createFailover>;

/** What becomes of a call that is on its way: answered, asked again, asked of a second validator, given up. */
export function createFailover({
  validators,
  lanes,
  settings,
  flushSoon,
  now,
}: {
  validators: readonly Validator[];
  lanes: readonly Lane[];
  settings: Pick<PoolSettings, "runMsMax">;
  flushSoon: () => void;
  now: () => number;
}) {
  /** Settles a call, once. */
  function finish(call: UpstreamCall, outcome: UpstreamResult): void {
    if (call.settled) return;
    call.settled = true;
    if (call.counted !== undefined) call.counted.underWay -= 1;
    if (call.refusal !== undefined) findCulprit(call, outcome);
    if (call.tooLargeFrom !== -1) blameTooLarge(call, outcome);
    call.settle(outcome === "unavailable" && call.noRoom > 0 ? "no_room" : outcome, call);
  }

  /** If each call of an array that was refused is good alone, it was the validator that refused them together. */
  function findCulprit({ refusal }: UpstreamCall, outcome: UpstreamResult): void {
    if (refusal === undefined) return;
    const isGood = typeof outcome !== "string" && !isStreamed(outcome) && isPlainResult(outcome);
    refusal.left -= 1;
    refusal.hasCulprit ||= !isGood;
    if (refusal.left === 0 && !refusal.hasCulprit) {
      validators[refusal.validatorIndex]?.health.failed("array_refused", now());
    }
  }

  /** Where another validator's answer is not too long, the long one was no answer. */
  function blameTooLarge({ tooLargeFrom, lastValidator }: UpstreamCall, outcome: UpstreamResult): void {
    if (typeof outcome === "string" || lastValidator === tooLargeFrom) return;
    validators[tooLargeFrom]?.health.failed("too_large", now());
  }

  /** Lets a call be put to a validator that it was not asked of yet. */
  function queueAgain(call: UpstreamCall): void {
    if (call.isWaiting) return;
    call.isWaiting = true;
    lanes[call.plan.lane]?.again.push(call);
    flushSoon();
  }

  /** A validator failed a call: another is asked, unless it is being asked already or may not be. */
  function askAgain(call: UpstreamCall, validator: Validator, reason: FailureReason): void {
    if (call.settled) return;
    validator.stats.failures[reason] += 1;
    if (call.target !== undefined) finish(call, "unavailable");
    else if (call.inFlight === 0) queueAgain(call);
  }

  /**
   * A request ended, or is given up, without its answers. One of its calls may be what ended the validator, so that
   * whatever it can cost is bounded here: a call of the slow lane is never put to another validator; one that runs
   * the EVM neither once it ran for long, else once more, alone. Light calls end nobody.
   */
  function failed(request: UpstreamRequest, validator: Validator, reason: FailureReason): void {
    if (!request.hasLeft || !mayBeItsEnd(request, reason)) {
      for (const call of request.calls) {
        const isUnsent = request.lane === slowLane && call.target !== undefined && !request.hasLeft;
        if (isUnsent) finish(call, "unsent");
        else askAgain(call, validator, reason);
      }
      return;
    }
    const ranMs = (reason === "hung" ? validator.progressAtMs : now()) - request.sentAtMs;
    const isKnown = request.calls.length === 1 && ranMs >= settings.runMsMax;
    let before: UpstreamCall | undefined;
    for (const call of request.calls) {
      if (call.settled) continue;
      call.losses += 1;
      call.alone = true;
      if (call.inFlight > 0) continue;
      if (request.lane === slowLane || isKnown || call.losses > 1) {
        validator.stats.failures[reason] += 1;
        finish(call, "lost");
      } else {
        // One of them after the other, so that the culprit takes none of its neighbours with it again.
        call.waitsFor = before;
        before = call;
        askAgain(call, validator, reason);
      }
    }
  }

  /**
   * An array came to nothing, or is late. Its calls are asked again in halves, and so on with the half that fails: after a few
   * rounds the culprit stands alone, and all have been asked twice as often as they are. A validator that was asked may be asked
   * again, on another connection, since it is asked something else. What was put to another since is left to that.
   *
   * Of calls that run the EVM each is asked alone at once: with each round the culprit would run at one validator more.
   */
  function askInHalves(request: UpstreamRequest, reason: FailureReason): void {
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
      else putBack(call, validator);
    }
  }

  /** Lets a call that is meant for one validator be put to that once more. */
  function putBack(call: UpstreamCall, validator: Validator): void {
    const lane = lanes[call.plan.lane];
    if (lane === undefined || call.isWaiting) return;
    call.isWaiting = true;
    validator.lanes[lane.index]?.directed.push(call);
    lane.directed += 1;
    flushSoon();
  }

  /**
   * What was too long together is asked call by call, in turn with other keys' calls: the lane's `again` goes first, and a
   * hundred long answers there would hold up everybody. Each validator may be asked, since none refused it.
   */
  function askAlone(call: UpstreamCall, validator: Validator, reason: FailureReason): void {
    call.alone = true;
    call.badAnswers += 1;
    call.mayHaveArrived = true;
    if (call.settled || call.target !== undefined || call.inFlight > 0 || call.isWaiting) {
      askAgain(call, validator, reason);
      return;
    }
    validator.stats.failures[reason] += 1;
    call.tried = 0;
    call.isWaiting = true;
    lanes[call.plan.lane]?.fresh.push(call);
    flushSoon();
  }

  return {
    finish,
    askInHalves,
    askAlone,

    /** An array that was split up ended with its validator: one of its calls may be what ended it. */
    noteEnd(request: UpstreamRequest, reason: FailureReason): void {
      if (request.calls.length === 1 || !request.isMoved || !mayBeItsEnd(request, reason)) return;
      for (const call of request.calls) {
        call.losses += 1;
        call.alone = true;
      }
    },
    queueAgain,
    askAgain,
    failed,

    /**
     * Asks what a request is late with of another validator too, as far as `mayHedge` allows. The request stays in flight:
     * the first answer is taken.
     */
    hedge(request: UpstreamRequest, mayHedge: () => boolean): void {
      const validator = validators[request.validatorIndex];
      request.isHedged = true;
      for (const call of request.calls) {
        if (validator === undefined || !isOnlyIn(call) || call.target !== undefined || call.losses > 0)
          continue;
        if (!mayHedge()) continue;
        validator.stats.hedgedCalls += 1;
        queueAgain(call);
      }
    },

    /** The same for an array that is late: its calls are asked in halves. Its own answer is taken still if it comes. */
    splitUp(request: UpstreamRequest): void {
      const validator = validators[request.validatorIndex];
      if (request.isAbandoned || validator === undefined) return;
      request.isMoved = true;
      request.isAbandoned = true;
      if (request.isHalfOpen) validator.halfOpenRequests -= 1;
      for (const call of request.calls) {
        call.inFlight -= 1;
        call.mayHaveArrived ||= request.hasLeft;
      }
      askInHalves(request, "late");
    },

    /** The same for a lone call, when it is so late that it may never be answered. */
    move(request: UpstreamRequest): void {
      const validator = validators[request.validatorIndex];
      request.isMoved = true;
      for (const call of request.calls) {
        if (validator === undefined || !isOnlyIn(call)) continue;
        call.mayHaveArrived ||= request.hasLeft;
        if (call.target !== undefined) askAgain(call, validator, "late");
        else {
          validator.stats.failures.late += 1;
          queueAgain(call);
        }
      }
    },

    /**
     * Moves what a request was asked for to other validators. The request keeps its connection until it is answered: the
     * validator goes on with it.
     */
    abandon(request: UpstreamRequest, reason: FailureReason): void {
      const validator = validators[request.validatorIndex];
      if (request.isAbandoned || validator === undefined) return;
      // It is still being run there, and never put to another: its answer may come yet.
      if (request.lane === slowLane && !endings.has(reason)) return;
      request.isAbandoned = true;
      if (request.isHalfOpen) validator.halfOpenRequests -= 1;
      for (const call of request.calls) {
        call.inFlight -= 1;
        call.mayHaveArrived ||= request.hasLeft;
      }
      failed(request, validator, reason);
    },
  };
}

/** How a validator looks that was ended by what it ran. Other failures are answers: it has survived. */
const endings: ReadonlySet<FailureReason> = new Set(["connect", "closed", "timeout", "hung"]);

/** Whether one of a request's calls may have ended the validator: light ones do not. */
export function mayBeItsEnd({ lane }: UpstreamRequest, reason: FailureReason): boolean {
  return lane !== lightLane && endings.has(reason);
}

/** Whether a call that is in a request is in no other, nor about to be. */
function isOnlyIn(call: UpstreamCall): boolean {
  return !call.settled && !call.isWaiting && call.inFlight === 1;
}
