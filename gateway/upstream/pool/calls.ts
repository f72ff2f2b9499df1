import { isPlainResult } from "./classify-response.ts";
import type { FailureReason, Flight } from "./connection.ts";
import { type Lane, lightLane, slowLane } from "./lanes.ts";
import { isStreamed } from "./pool-answer.ts";
import type { PoolSettings } from "./pool-settings.ts";
import type { Ask, AskOutcome } from "./upstream-call.ts";
import type { Member } from "./validator.ts";

export type Calls = ReturnType<typeof createCalls>;

/** What becomes of a call that is on its way: answered, asked again, asked of a second validator, given up. */
export function createCalls({
  members,
  lanes,
  settings,
  flushSoon,
  now,
}: {
  members: readonly Member[];
  lanes: readonly Lane[];
  settings: Pick<PoolSettings, "runMsMax">;
  flushSoon: () => void;
  now: () => number;
}) {
  /** Settles a call, once. */
  function finish(ask: Ask, outcome: AskOutcome): void {
    if (ask.settled) return;
    ask.settled = true;
    if (ask.counted !== undefined) ask.counted.underWay -= 1;
    if (ask.refusal !== undefined) findCulprit(ask, outcome);
    if (ask.tooLargeOf !== -1) blameTooLarge(ask, outcome);
    ask.settle(outcome === "unavailable" && ask.noRoom > 0 ? "no_room" : outcome, ask);
  }

  /** If each call of an array that was refused is good alone, it was the validator that refused them together. */
  function findCulprit({ refusal }: Ask, outcome: AskOutcome): void {
    if (refusal === undefined) return;
    const isGood = typeof outcome !== "string" && !isStreamed(outcome) && isPlainResult(outcome);
    refusal.left -= 1;
    refusal.hasCulprit ||= !isGood;
    if (refusal.left === 0 && !refusal.hasCulprit) {
      members[refusal.validator]?.health.failed("array_refused", now());
    }
  }

  /** Where another validator's answer is not too long, the long one was no answer. */
  function blameTooLarge({ tooLargeOf, askedOf }: Ask, outcome: AskOutcome): void {
    if (typeof outcome === "string" || askedOf === tooLargeOf) return;
    members[tooLargeOf]?.health.failed("too_large", now());
  }

  /** Lets a call be put to a validator that it was not asked of yet. */
  function queueAgain(ask: Ask): void {
    if (ask.isWaiting) return;
    ask.isWaiting = true;
    lanes[ask.plan.lane]?.again.push(ask);
    flushSoon();
  }

  /** A validator failed a call: another is asked, unless it is being asked already or may not be. */
  function askAgain(ask: Ask, member: Member, reason: FailureReason): void {
    if (ask.settled) return;
    member.stats.failures[reason] += 1;
    if (ask.target !== undefined) finish(ask, "unavailable");
    else if (ask.flights === 0) queueAgain(ask);
  }

  /**
   * A request ended, or is given up, without its answers. One of its calls may be what ended the validator, so that
   * whatever it can cost is bounded here: a call of the slow lane is never put to another validator; one that runs
   * the EVM neither once it ran for long, else once more, alone. Light calls end nobody.
   */
  function failed(flight: Flight, member: Member, reason: FailureReason): void {
    if (!flight.hasLeft || !mayBeItsEnd(flight, reason)) {
      for (const ask of flight.asks) {
        const isUnsent = flight.lane === slowLane && ask.target !== undefined && !flight.hasLeft;
        if (isUnsent) finish(ask, "unsent");
        else askAgain(ask, member, reason);
      }
      return;
    }
    const ranMs = (reason === "hung" ? member.progressAtMs : now()) - flight.sentAtMs;
    const isKnown = flight.asks.length === 1 && ranMs >= settings.runMsMax;
    let before: Ask | undefined;
    for (const ask of flight.asks) {
      if (ask.settled) continue;
      ask.losses += 1;
      ask.alone = true;
      if (ask.flights > 0) continue;
      if (flight.lane === slowLane || isKnown || ask.losses > 1) {
        member.stats.failures[reason] += 1;
        finish(ask, "lost");
      } else {
        // One of them after the other, so that the culprit takes none of its neighbours with it again.
        ask.after = before;
        before = ask;
        askAgain(ask, member, reason);
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
  function askInHalves(flight: Flight, reason: FailureReason): void {
    const member = members[flight.validator];
    const open = flight.asks.filter((ask) => !ask.settled && ask.sentAtMs === flight.sentAtMs);
    if (member === undefined) return;
    const half = flight.lane === lightLane ? Math.ceil(open.length / 2) : 1;
    for (const ask of open) {
      ask.arrayMax = Math.min(ask.arrayMax, half);
      ask.mayRepeat = true;
      member.stats.failures[reason] += 1;
      if (ask.target === undefined) queueAgain(ask);
      else if (member.health.state() === "open") finish(ask, "unavailable");
      else putBack(ask, member);
    }
  }

  /** Lets a call that is meant for one validator be put to that once more. */
  function putBack(ask: Ask, member: Member): void {
    const lane = lanes[ask.plan.lane];
    if (lane === undefined || ask.isWaiting) return;
    ask.isWaiting = true;
    member.lanes[lane.index]?.directed.push(ask);
    lane.directed += 1;
    flushSoon();
  }

  /**
   * What was too long together is asked call by call, in turn with other keys' calls: the lane's `again` goes first, and a
   * hundred long answers there would hold up everybody. Each validator may be asked, since none refused it.
   */
  function askAlone(ask: Ask, member: Member, reason: FailureReason): void {
    ask.alone = true;
    ask.badAnswers += 1;
    ask.mayHaveArrived = true;
    if (ask.settled || ask.target !== undefined || ask.flights > 0 || ask.isWaiting) {
      askAgain(ask, member, reason);
      return;
    }
    member.stats.failures[reason] += 1;
    ask.tried = 0;
    ask.isWaiting = true;
    lanes[ask.plan.lane]?.fresh.push(ask);
    flushSoon();
  }

  return {
    finish,
    askInHalves,
    askAlone,

    /** An array that was split up ended with its validator: one of its calls may be what ended it. */
    noteEnd(flight: Flight, reason: FailureReason): void {
      if (flight.asks.length === 1 || !flight.isMoved || !mayBeItsEnd(flight, reason)) return;
      for (const ask of flight.asks) {
        ask.losses += 1;
        ask.alone = true;
      }
    },
    queueAgain,
    askAgain,
    failed,

    /**
     * Asks what a request is late with of another validator too, as far as `mayHedge` allows. The request stays in flight:
     * the first answer is taken.
     */
    hedge(flight: Flight, mayHedge: () => boolean): void {
      const member = members[flight.validator];
      flight.isHedged = true;
      for (const ask of flight.asks) {
        if (member === undefined || !isOnlyIn(ask) || ask.target !== undefined || ask.losses > 0) continue;
        if (!mayHedge()) continue;
        member.stats.hedgedCalls += 1;
        queueAgain(ask);
      }
    },

    /** The same for an array that is late: its calls are asked in halves. Its own answer is taken still if it comes. */
    splitUp(flight: Flight): void {
      const member = members[flight.validator];
      if (flight.isAbandoned || member === undefined) return;
      flight.isMoved = true;
      flight.isAbandoned = true;
      if (flight.isTrial) member.trialFlights -= 1;
      for (const ask of flight.asks) {
        ask.flights -= 1;
        ask.mayHaveArrived ||= flight.hasLeft;
      }
      askInHalves(flight, "late");
    },

    /** The same for a lone call, when it is so late that it may never be answered. */
    move(flight: Flight): void {
      const member = members[flight.validator];
      flight.isMoved = true;
      for (const ask of flight.asks) {
        if (member === undefined || !isOnlyIn(ask)) continue;
        ask.mayHaveArrived ||= flight.hasLeft;
        if (ask.target !== undefined) askAgain(ask, member, "late");
        else {
          member.stats.failures.late += 1;
          queueAgain(ask);
        }
      }
    },

    /**
     * Moves what a request was asked for to other validators. The request keeps its connection until it is answered: the
     * validator goes on with it.
     */
    abandon(flight: Flight, reason: FailureReason): void {
      const member = members[flight.validator];
      if (flight.isAbandoned || member === undefined) return;
      // It is still being run there, and never put to another: its answer may come yet.
      if (flight.lane === slowLane && !endings.has(reason)) return;
      flight.isAbandoned = true;
      if (flight.isTrial) member.trialFlights -= 1;
      for (const ask of flight.asks) {
        ask.flights -= 1;
        ask.mayHaveArrived ||= flight.hasLeft;
      }
      failed(flight, member, reason);
    },
  };
}

/** How a validator looks that was ended by what it ran. Other failures are answers: it has survived. */
const endings: ReadonlySet<FailureReason> = new Set(["connect", "closed", "timeout", "hung"]);

/** Whether one of a request's calls may have ended the validator: light ones do not. */
export function mayBeItsEnd({ lane }: Flight, reason: FailureReason): boolean {
  return lane !== lightLane && endings.has(reason);
}

/** Whether a call that is in a request is in no other, nor about to be. */
function isOnlyIn(ask: Ask): boolean {
  return !ask.settled && !ask.isWaiting && ask.flights === 1;
}
