import type { Logger } from "pino";
import type { Choose, PoolHead } from "./choose.ts";
import type { Connection, ConnectionEvents, FailureReason, UpstreamRequest } from "./connection.ts";
import { createFailover, type Failover } from "./failover.ts";
import { hasLongAnswers, longAnswerChars, noteAnswerLength } from "./group-counts.ts";
import { createResponseHandler } from "./handle-response.ts";
import type { HedgeBudget } from "./hedge-budget.ts";
import { createLanes, type Lane, slowLane, waiting } from "./lanes.ts";
import type { PoolSettings } from "./pool-settings.ts";
import { byTurns, takeCompanions } from "./take-array.ts";
import { anyLength, composeBody, type UpstreamCall } from "./upstream-call.ts";
import {
  countRequest,
  dropConnection,
  hasRoom,
  places,
  takeConnection,
  type Validator,
} from "./validator.ts";

export type Dispatcher = {
  readonly lanes: readonly Lane[];
  readonly failover: Failover;
  /** Takes a call in. It is settled exactly once, at once where too many wait already. */
  submit(call: UpstreamCall): void;
  /** Sends at the end of this turn of the event loop what can be sent. */
  flushSoon(): void;
  /** Closes a connection and frees its place; what it was asked for is asked elsewhere. */
  giveUp(connection: Connection, validator: Validator, reason: FailureReason): void;
  /** Asks the calls of an array that is late in halves. */
  splitUp(connection: Connection, validator: Validator): void;
  /** A validator was taken out: whatever waits for it is asked elsewhere. */
  moveAll(validator: Validator, reason: FailureReason): void;
  /** Settles everything, and takes in nothing more. What is being streamed goes on. */
  settleAll(): void;
  /** The same, and closes every connection. */
  stop(): void;
};

/** While a validator is on trial an array is no longer than this. */
const halfOpenCallsMax = 8;
/** Failover that are asked again and find no connection, after which the rest of their queue is left as it is. */
const keptBeforeRest = 64;

/**
 * Failover become requests here. What comes in during one turn of the event loop leaves together at its end; where no
 * connection is free it waits, and leaves when one is. Without a timer, so light load is not delayed; and the heavier the
 * load, the longer the arrays.
 */
export function createDispatcher({
  validators,
  openConnection,
  choose,
  head,
  hedges,
  settings,
  logger,
  now,
}: {
  validators: readonly Validator[];
  openConnection: (validator: Validator, events: ConnectionEvents) => Connection;
  choose: Choose;
  head: Pick<PoolHead, "isEligible">;
  hedges: Pick<HedgeBudget, "earn">;
  settings: PoolSettings;
  logger: Logger;
  now: () => number;
}): Dispatcher {
  const lanes = createLanes(settings);
  const failover = createFailover({ validators, lanes, settings, flushSoon, now });
  const responses = createResponseHandler({
    lanes,
    failover,
    splitAfterMs: settings.arrays.splitAfterMs,
    logger,
    now,
  });
  const events = validators.map(connectionEvents);
  let flushIsDue = false;
  let stopped = false;

  function submit(call: UpstreamCall): void {
    const lane = lanes[call.plan.lane];
    if (lane === undefined || stopped || !hasRoomFor(lane, call)) refuse(call, "unavailable");
    else if (!enterGroup(lane, call)) refuse(call, "crowded");
    else takeIn(lane, call);
  }

  /** Where the queue is full, a call of the key that crowds it goes for one of a key that does not. */
  function hasRoomFor(lane: Lane, call: UpstreamCall): boolean {
    if (waiting(lane) < lane.queueMax) return true;
    const other = lane.fresh.makeRoom(call.group);
    if (other !== undefined) failover.finish(other, "unavailable");
    return other !== undefined;
  }

  function takeIn(lane: Lane, call: UpstreamCall): void {
    hedges.earn();
    const directed =
      call.target === undefined ? undefined : validators[call.target]?.lanes[lane.index]?.directed;
    if (directed !== undefined) {
      directed.push(call);
      lane.directed += 1;
    } else if (call.tried !== 0) failover.queueAgain(call);
    else lane.fresh.push(call);
    flushSoon();
  }

  function refuse(call: UpstreamCall, why: "unavailable" | "crowded"): void {
    call.settled = true;
    call.settle(why, call);
  }

  function enterGroup(lane: Lane, call: UpstreamCall): boolean {
    if (call.group === undefined) return true;
    call.counted = lane.groups.enter(call.group);
    if (hasLongAnswers(call.counted, call.plan.rule.name)) call.alone = true;
    return call.counted !== undefined;
  }

  function flushSoon(): void {
    if (flushIsDue) return;
    flushIsDue = true;
    setImmediate(flush);
  }

  function flush(): void {
    flushIsDue = false;
    for (const lane of lanes) pump(lane);
  }

  function pump(lane: Lane): void {
    if (lane.directed > 0) for (const validator of validators) pumpDirected(lane, validator);
    if (lane.again.length > 0) pumpAgain(lane);
    while (lane.fresh.count() > 0) {
      const validator = choose(lane.index, 0);
      if (validator === "busy") return;
      if (validator === "none") {
        for (const call of lane.fresh.drain()) failover.finish(call, "unavailable");
        return;
      }
      const validatorLane = validator.lanes[lane.index];
      if (validatorLane !== undefined) validatorLane.wasDirected = false;
      sendOff(lane.fresh.take(limitsFor(lane, validator)), lane, validator);
    }
  }

  function limitsFor(lane: Lane, validator: Validator): { callsMax: number; paramsBytesMax: number } {
    const { paramsBytesMax } = settings.arrays;
    const isHalfOpen = validator.health.state() !== "closed";
    const callsMax = isLastPlace(lane, validator) ? 1 : lane.callsMax;
    return { callsMax: isHalfOpen ? Math.min(halfOpenCallsMax, callsMax) : callsMax, paramsBytesMax };
  }

  /**
   * Where calls may be slow the last connection to a validator carries one call at a time: whoever else's arrays are on
   * the others, it is free again after one call's time.
   */
  function isLastPlace(lane: Lane, { lanes }: Validator): boolean {
    const validatorLane = lanes[lane.index];
    if (validatorLane === undefined || lane.turns.isMixed || validatorLane.max === 1) return false;
    return places(validatorLane) <= 1;
  }

  function pumpDirected(lane: Lane, validator: Validator): void {
    const validatorLane = validator.lanes[lane.index];
    if (validatorLane === undefined) return;
    const { directed } = validatorLane;
    while (directed.count() > 0 && hasRoom(validator, validatorLane)) {
      // The last place is theirs and everybody else's by turns.
      if (validatorLane.wasDirected && places(validatorLane) <= 1 && lane.fresh.count() > 0) return;
      validatorLane.wasDirected = true;
      const before = directed.count();
      const taken = directed.take(limitsFor(lane, validator));
      lane.directed -= before - directed.count();
      sendOff(taken, lane, validator);
    }
  }

  /** Each is put to a validator that it was not asked of; those behind it that may go there too go along. */
  function pumpAgain(lane: Lane): void {
    const calls: (UpstreamCall | undefined)[] =
      lane.again.length > keptBeforeRest ? byTurns(lane.again) : lane.again;
    lane.again = [];
    let kept = 0;
    for (let index = 0; index < calls.length; index += 1) {
      const call = calls[index];
      if (call === undefined || call.settled) continue;
      if (call.waitsFor?.settled === false) {
        lane.again.push(call);
        continue;
      }
      call.waitsFor = undefined;
      const validator = kept < keptBeforeRest ? chooseAgain(call, lane) : "busy";
      if (validator === "busy") {
        kept += 1;
        lane.again.push(call);
      } else if (validator === "none") {
        call.isWaiting = false;
        // Where it is in another request still, that one may be answered.
        if (call.inFlight === 0) failover.finish(call, call.fallback ?? "unavailable");
      } else sendOff(takeCompanions(calls, index, companyAt(call, lane, validator)), lane, validator);
    }
  }

  function companyAt(call: UpstreamCall, lane: Lane, validator: Validator) {
    const { isMixed, callsMaxOf } = lane.turns;
    const { callsMax, paramsBytesMax } = limitsFor(lane, validator);
    return { callsMax: Math.min(callsMax, callsMaxOf(call)), paramsBytesMax, isMixed, bit: validator.bit };
  }

  /** When all were asked in vain, each is asked a second time before the call is given up. */
  function chooseAgain(call: UpstreamCall, lane: Lane): Validator | "busy" | "none" {
    const validator = choose(lane.index, call.tried);
    if (validator !== "none") return validator;
    if (call.mayRepeat) return choose(lane.index, 0);
    if (call.inFlight > 0 || call.isSecondRound) return validator;
    call.isSecondRound = true;
    call.tried = 0;
    return choose(lane.index, 0);
  }

  function sendOff(calls: readonly UpstreamCall[], lane: Lane, validator: Validator): void {
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
  }

  function connectionEvents(validator: Validator): ConnectionEvents {
    /** The connection is free before its calls are settled, and takes what has gathered after that. */
    const landed = (connection: Connection, request: UpstreamRequest, settle: () => void) => {
      const lane = lanes[request.lane];
      if (lane === undefined || stopped) return;
      validator.lanes[request.lane]?.free.push(connection);
      if (!request.isAbandoned) {
        if (request.isHalfOpen) validator.halfOpenRequests -= 1;
        for (const call of request.calls) call.inFlight -= 1;
      }
      settle();
      if (waiting(lane) > 0 && !flushIsDue) pump(lane);
    };
    return {
      bytesCame(request) {
        // Of a long answer each byte counts; a short one is there, or it is not.
        if (request.lane === slowLane) validator.progressAtMs = now();
      },
      answered: (connection, request, answer) =>
        landed(connection, request, () => responses.answered(validator, request, answer)),
      failed: (connection, request, reason) =>
        landed(connection, request, () => responses.failed(validator, request, reason)),
      streamBegan(request, answer) {
        const nowMs = now();
        validator.health.succeeded(nowMs);
        // To its first bytes: what follows is its reader's time.
        validator.lanes[request.lane]?.latency.add(nowMs - request.sentAtMs);
        lanes[request.lane]?.latency.add(nowMs - request.sentAtMs);
        const [call] = request.calls;
        if (call?.counted !== undefined) noteAnswerLength(call.counted, call.plan.rule.name, longAnswerChars);
        answer.validator = validator.label;
        if (call !== undefined) failover.finish(call, answer);
      },
      streamEnded: (connection, request) => landed(connection, request, () => {}),
    };
  }

  function settleAll(): void {
    stopped = true;
    const left: UpstreamCall[] = [];
    for (const lane of lanes) left.push(...lane.fresh.drain(), ...lane.again.splice(0));
    for (const validatorLane of validators.flatMap((validator) => validator.lanes)) {
      left.push(...validatorLane.directed.drain());
      for (const { request } of validatorLane.connections) left.push(...(request?.calls ?? []));
    }
    for (const call of left) failover.finish(call, "unavailable");
  }

  return {
    lanes,
    failover,
    submit,
    flushSoon,

    giveUp(connection, validator, reason) {
      const { request } = connection;
      if (request === undefined) return;
      const validatorLane = validator.lanes[request.lane];
      failover.abandon(request, reason);
      connection.failStream();
      if (validatorLane !== undefined) dropConnection(validatorLane, connection);
      flushSoon();
    },

    splitUp(connection, validator) {
      const { request } = connection;
      const validatorLane = request === undefined ? undefined : validator.lanes[request.lane];
      if (request === undefined || validatorLane === undefined) return;
      // The first array keeps its connection, because its answer may come, as long as it leaves others a place.
      const isHalf = request.calls.some(({ arrayMax }) => arrayMax !== anyLength);
      const keepsPlace = !isHalf && places(validatorLane) > 1;
      failover.splitUp(request);
      if (!keepsPlace) dropConnection(validatorLane, connection);
      flushSoon();
    },

    moveAll(validator, reason) {
      for (const [index, validatorLane] of validator.lanes.entries()) {
        const calls = validatorLane.directed.drain();
        const lane = lanes[index];
        if (lane !== undefined) lane.directed -= calls.length;
        for (const call of calls) failover.askAgain(call, validator, reason);
        for (const { request } of validatorLane.connections) {
          if (request !== undefined) failover.abandon(request, reason);
        }
      }
    },

    settleAll,

    stop() {
      settleAll();
      for (const validatorLane of validators.flatMap((validator) => validator.lanes)) {
        for (const connection of validatorLane.connections) {
          connection.failStream();
          connection.destroy();
        }
        validatorLane.connections = [];
        validatorLane.free = [];
      }
    },
  };
}
