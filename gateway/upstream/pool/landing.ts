import type { Logger } from "pino";
import type { Ask } from "./ask.ts";
import type { Calls } from "./calls.ts";
import type { FailureReason, Flight } from "./connection.ts";
import type { Lane } from "./lanes.ts";
import type { Member } from "./member.ts";
import type { WholeAnswer } from "./pool-answer.ts";
import { readOutcome } from "./read-outcome.ts";

/** After bad answers from so many validators a call is at fault itself: no validator is taken out for it. */
const blamedAnswersMax = 2;

/** What an answer, or none, means to the calls of a request and to the validator's health. */
export function createLanding({
  lanes,
  calls,
  logger,
  now,
}: {
  lanes: readonly Lane[];
  calls: Calls;
  logger: Logger;
  now: () => number;
}) {
  function blame(flight: Flight, member: Member, reason: FailureReason): void {
    const [ask] = flight.asks;
    if (flight.asks.length === 1 && ask !== undefined && ask.badAnswers >= blamedAnswersMax) return;
    member.health.failed(reason, now());
  }

  function badAnswer(ask: Ask, member: Member, reason: FailureReason, { alone }: { alone: boolean }): void {
    ask.badAnswers += 1;
    ask.alone ||= alone;
    ask.mayHaveArrived = true;
    calls.askAgain(ask, member, reason);
  }

  function settleAll(flight: Flight, member: Member, answers: readonly (WholeAnswer | undefined)[]): void {
    const nowMs = now();
    let missing = 0;
    for (let index = 0; index < flight.asks.length; index += 1) {
      const ask = flight.asks[index];
      const answer = answers[index];
      if (ask === undefined) continue;
      ask.askedOf = member.index;
      if (answer !== undefined) {
        answer.validator = member.index;
        answer.wasAtHead = flight.isAtHead;
        calls.finish(ask, answer);
      } else {
        missing += 1;
        badAnswer(ask, member, "missing", { alone: true });
      }
    }
    member.progressAtMs = nowMs;
    // What it answers long after it was given up says nothing about what it will answer now.
    if (flight.isAbandoned) return;
    member.lanes[flight.lane]?.latency.add(nowMs - flight.sentAtMs);
    lanes[flight.lane]?.latency.add(nowMs - flight.sentAtMs);
    if (missing > 0) member.health.failed("missing", nowMs);
    else member.health.succeeded(nowMs);
  }

  /** One error object for an array: one of its calls may have spoiled it, so that each is asked alone. */
  function refusedArray(flight: Flight, member: Member): void {
    const open = flight.asks.filter((ask) => !ask.settled);
    const refusal = { validator: member.index, left: open.length, hasCulprit: false };
    for (const ask of open) {
      ask.refusal ??= refusal;
      if (ask.refusal !== refusal) refusal.hasCulprit = true;
      badAnswer(ask, member, "array_refused", { alone: true });
    }
  }

  /** An error object that names no call: when a second validator says so too, it is the call's answer. */
  function refusedCall(flight: Flight, member: Member, error: WholeAnswer): void {
    const [ask] = flight.asks;
    if (ask?.fallback !== undefined) calls.finish(ask, error);
    else {
      if (ask !== undefined) ask.fallback = error;
      allBad(flight, member, "bad_answer");
    }
  }

  function allBad(flight: Flight, member: Member, reason: FailureReason): void {
    blame(flight, member, reason);
    // One more try together: it is rather the validator that is broken than one of the calls.
    for (const ask of flight.asks) badAnswer(ask, member, reason, { alone: ask.badAnswers > 0 });
  }

  return {
    answered(member: Member, flight: Flight, answer: { status: number; body: Buffer }): void {
      const outcome = readOutcome(flight.asks.length, answer);
      if (outcome.kind === "answers") settleAll(flight, member, outcome.answers);
      else if (outcome.kind === "failed") allBad(flight, member, outcome.reason);
      else if (flight.asks.length > 1) refusedArray(flight, member);
      else refusedCall(flight, member, outcome.error);
    },

    failed(member: Member, flight: Flight, reason: FailureReason): void {
      logger.debug({ validator: member.label, reason, calls: flight.asks.length }, "validator failed");
      // That nobody waits any more, or that the answer is too long, is not the validator's fault.
      if (reason !== "unwanted" && reason !== "too_large") member.health.failed(reason, now());
      for (const ask of flight.asks) {
        ask.mayHaveArrived ||= flight.hasLeft;
        if (reason !== "too_large") calls.askAgain(ask, member, reason);
        else if (flight.asks.length > 1) badAnswer(ask, member, reason, { alone: true });
        else calls.finish(ask, "unavailable");
      }
    },
  };
}
