import { isPlainResult } from "./answer-verdict.ts";
import type { Ask, AskOutcome } from "./ask.ts";
import type { FailureReason, Flight } from "./connection.ts";
import type { Lane } from "./lanes.ts";
import type { Member } from "./member.ts";
import { isStreamed } from "./pool-answer.ts";

export type Calls = ReturnType<typeof createCalls>;

/** What becomes of a call that is on its way: answered, asked again, asked of a second validator, given up. */
export function createCalls({
  members,
  lanes,
  flushSoon,
  now,
}: {
  members: readonly Member[];
  lanes: readonly Lane[];
  flushSoon: () => void;
  now: () => number;
}) {
  /** Settles a call, once. */
  function finish(ask: Ask, outcome: AskOutcome): void {
    if (ask.settled) return;
    ask.settled = true;
    if (ask.counted !== undefined) ask.counted.underWay -= 1;
    if (ask.refusal !== undefined) findCulprit(ask, outcome);
    ask.settle(outcome, ask);
  }

  /** If each call of an array that was refused is good alone, it was the validator that refused them together. */
  function findCulprit({ refusal }: Ask, outcome: AskOutcome): void {
    if (refusal === undefined) return;
    const isGood = outcome !== "unavailable" && !isStreamed(outcome) && isPlainResult(outcome);
    refusal.left -= 1;
    refusal.hasCulprit ||= !isGood;
    if (refusal.left === 0 && !refusal.hasCulprit) {
      members[refusal.validator]?.health.failed("array_refused", now());
    }
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

  return {
    finish,
    queueAgain,
    askAgain,

    /**
     * Asks what a request is late with of another validator too, as far as `mayHedge` allows. The request stays in flight:
     * the first answer is taken.
     */
    hedge(flight: Flight, mayHedge: () => boolean): void {
      const member = members[flight.validator];
      flight.isHedged = true;
      for (const ask of flight.asks) {
        if (member === undefined || !isOnlyIn(ask) || ask.target !== undefined || !mayHedge()) continue;
        member.stats.hedgedCalls += 1;
        queueAgain(ask);
      }
    },

    /** The same for all that is in it, when it is so late that it may never be answered. */
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
      flight.isAbandoned = true;
      if (flight.isTrial) member.trialFlights -= 1;
      for (const ask of flight.asks) {
        ask.flights -= 1;
        ask.mayHaveArrived ||= flight.hasLeft;
        askAgain(ask, member, reason);
      }
    },
  };
}

/** Whether a call that is in a request is in no other, nor about to be. */
function isOnlyIn(ask: Ask): boolean {
  return !ask.settled && !ask.isWaiting && ask.flights === 1;
}
