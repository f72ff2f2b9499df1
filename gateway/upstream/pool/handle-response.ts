import type { Logger } from "pino";
import { type Calls, mayBeItsEnd } from "./calls.ts";
import type { FailureReason, Flight } from "./connection.ts";
import { longAnswerChars, noteAnswerLength, noteCallMs } from "./group-counts.ts";
import { type Lane, slowLane } from "./lanes.ts";
import type { WholeAnswer } from "./pool-answer.ts";
import { readOutcome } from "./read-outcome.ts";
import type { Ask } from "./upstream-call.ts";
import type { Member } from "./validator.ts";

/** After bad answers from so many validators a call is at fault itself: no validator is taken out for it. */
const blamedAnswersMax = 2;

/** So a proxy in front of a validator says that it has gone, or hangs. */
const proxyStatuses: ReadonlySet<number> = new Set([502, 504]);
/** Calls whose answers found no room so often are not asked again: what they would bring is in nobody's interest now. */
const noRoomMax = 3;

/** That nobody waits any more, or that an answer is too long or finds no room, is not its validator's fault. */
const blameless: ReadonlySet<FailureReason> = new Set(["unwanted", "too_large", "no_room"]);

/** What an answer, or none, means to the calls of a request and to the validator's health. */
export function createLanding({
  lanes,
  calls,
  splitAfterMs,
  logger,
  now,
}: {
  lanes: readonly Lane[];
  calls: Calls;
  splitAfterMs: number;
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
        answer.validator = member.label;
        answer.wasAtHead = flight.isAtHead;
        if (ask.counted !== undefined)
          noteAnswerLength(ask.counted, ask.plan.rule.name, answer.afterId.length);
        calls.finish(ask, answer);
      } else {
        missing += 1;
        badAnswer(ask, member, "missing", { alone: true });
      }
    }
    member.progressAtMs = nowMs;
    noteTime(flight, nowMs);
    // What it answers long after it was given up says nothing about what it will answer now, only that arrays take so long.
    if (flight.isAbandoned) {
      if (flight.isMoved) lanes[flight.lane]?.latency.add(nowMs - flight.sentAtMs);
      return;
    }
    const tookMs = nowMs - flight.sentAtMs;
    member.lanes[flight.lane]?.latency.add(tookMs);
    const lane = lanes[flight.lane];
    lane?.latency.add(tookMs);
    if (lane !== undefined && tookMs < splitAfterMs / 2) lane.quickAnswerAtMs = nowMs;
    if (missing > 0) member.health.failed("missing", nowMs);
    else member.health.succeeded(nowMs);
  }

  /** Where arrays are of one key, what they took is known of its calls. */
  function noteTime({ asks, lane, sentAtMs }: Flight, nowMs: number): void {
    if (lanes[lane]?.turns.isMixed !== false) return;
    const count = asks[0]?.counted;
    if (count !== undefined) noteCallMs(count, (nowMs - sentAtMs) / asks.length);
  }

  /** One error object for an array: one of its calls may have spoiled it, so that halves of it are asked. */
  function refusedArray(flight: Flight, member: Member): void {
    const open = flight.asks.filter((ask) => !ask.settled);
    const refusal = { validator: member.index, left: open.length, hasCulprit: false };
    for (const ask of open) {
      ask.refusal ??= refusal;
      if (ask.refusal !== refusal) refusal.hasCulprit = true;
    }
    halve(flight, "array_refused");
  }

  function halve(flight: Flight, reason: FailureReason): void {
    for (const ask of flight.asks) {
      if (ask.settled) continue;
      ask.badAnswers += 1;
      ask.mayHaveArrived = true;
    }
    calls.askInHalves(flight, reason);
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

  /**
   * Of an array each is asked alone. One that was alone is asked of one other, who may say it shorter if this one lies;
   * one of the slow lane is not: it costs a validator much.
   */
  function tooLarge(ask: Ask, flight: Flight, member: Member): void {
    if (flight.asks.length > 1) calls.askAlone(ask, member, "too_large");
    else if (ask.tooLargeOf !== -1 || flight.lane === slowLane) calls.finish(ask, "too_large");
    else {
      if (ask.counted !== undefined) noteAnswerLength(ask.counted, ask.plan.rule.name, longAnswerChars);
      ask.tooLargeOf = member.index;
      calls.askAgain(ask, member, "too_large");
    }
  }

  /** Another validator may have room left: each has a part of its own. */
  function noRoom(ask: Ask, flight: Flight, member: Member): void {
    ask.noRoom += 1;
    if (ask.noRoom >= noRoomMax || flight.lane === slowLane) calls.finish(ask, "no_room");
    else if (flight.asks.length > 1) calls.askAlone(ask, member, "no_room");
    else calls.askAgain(ask, member, "no_room");
  }

  function allBad(flight: Flight, member: Member, reason: FailureReason): void {
    blame(flight, member, reason);
    const [ask] = flight.asks;
    if (flight.asks.length > 1) halve(flight, reason);
    else if (ask !== undefined) badAnswer(ask, member, reason, { alone: ask.badAnswers > 0 });
  }

  return {
    answered(member: Member, flight: Flight, answer: { status: number; body: Buffer }): void {
      const outcome = readOutcome(flight.asks.length, answer);
      if (outcome.kind === "answers") settleAll(flight, member, outcome.answers);
      // Its calls are asked elsewhere already.
      else if (flight.isAbandoned) return;
      else if (outcome.kind === "failed" && flight.lane === slowLane && proxyStatuses.has(answer.status)) {
        blame(flight, member, outcome.reason);
        calls.failed(flight, member, "closed");
      } else if (outcome.kind === "failed") allBad(flight, member, outcome.reason);
      else if (flight.asks.length > 1) refusedArray(flight, member);
      else refusedCall(flight, member, outcome.error);
    },

    failed(member: Member, flight: Flight, reason: FailureReason): void {
      logger.debug({ validator: member.label, reason, calls: flight.asks.length }, "validator failed");
      if (!blameless.has(reason)) member.health.failed(reason, now());
      for (const ask of flight.asks) ask.mayHaveArrived ||= flight.hasLeft;
      if (flight.isAbandoned) {
        calls.noteEnd(flight, reason);
        return;
      }
      const isArray = flight.asks.length > 1;
      if (reason === "too_large") {
        for (const ask of flight.asks) tooLarge(ask, flight, member);
      } else if (reason === "no_room") {
        for (const ask of flight.asks) noRoom(ask, flight, member);
        // It was read by the validator, and one of its calls may be what ended the connection.
      } else if (isArray && flight.hasLeft && !mayBeItsEnd(flight, reason)) calls.askInHalves(flight, reason);
      else calls.failed(flight, member, reason);
    },
  };
}
