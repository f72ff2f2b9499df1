import type { Logger } from "pino";
import { type Calls, createCalls } from "./calls.ts";
import type { Choose, PoolHead } from "./choose.ts";
import type { Connection, ConnectionEvents, FailureReason, Flight } from "./connection.ts";
import { hasLongAnswers, longAnswerChars, noteAnswerLength } from "./group-counts.ts";
import { createLanding } from "./handle-response.ts";
import type { HedgeBudget } from "./hedge-budget.ts";
import { createLanes, type Lane, slowLane, waiting } from "./lanes.ts";
import type { PoolSettings } from "./pool-settings.ts";
import { byTurns, takeCompanions } from "./take-array.ts";
import { type Ask, anyLength, composeBody } from "./upstream-call.ts";
import { countRequest, dropConnection, hasRoom, type Member, places, takeConnection } from "./validator.ts";

export type Dispatcher = {
  readonly lanes: readonly Lane[];
  readonly calls: Calls;
  /** Takes a call in. It is settled exactly once, at once where too many wait already. */
  submit(ask: Ask): void;
  /** Sends at the end of this turn of the event loop what can be sent. */
  flushSoon(): void;
  /** Closes a connection and frees its place; what it was asked for is asked elsewhere. */
  giveUp(connection: Connection, member: Member, reason: FailureReason): void;
  /** Asks the calls of an array that is late in halves. */
  splitUp(connection: Connection, member: Member): void;
  /** A validator was taken out: whatever waits for it is asked elsewhere. */
  moveAll(member: Member, reason: FailureReason): void;
  /** Settles everything, and takes in nothing more. What is being streamed goes on. */
  settleAll(): void;
  /** The same, and closes every connection. */
  stop(): void;
};

/** While a validator is on trial an array is no longer than this. */
const trialCallsMax = 8;
/** Calls that are asked again and find no connection, after which the rest of their queue is left as it is. */
const keptBeforeRest = 64;

/**
 * Calls become requests here. What comes in during one turn of the event loop leaves together at its end; where no
 * connection is free it waits, and leaves when one is. Without a timer, so light load is not delayed; and the heavier the
 * load, the longer the arrays.
 */
export function createDispatcher({
  members,
  openConnection,
  choose,
  head,
  hedges,
  settings,
  logger,
  now,
}: {
  members: readonly Member[];
  openConnection: (member: Member, events: ConnectionEvents) => Connection;
  choose: Choose;
  head: Pick<PoolHead, "isEligible">;
  hedges: Pick<HedgeBudget, "earn">;
  settings: PoolSettings;
  logger: Logger;
  now: () => number;
}): Dispatcher {
  const lanes = createLanes(settings);
  const calls = createCalls({ members, lanes, settings, flushSoon, now });
  const landing = createLanding({ lanes, calls, splitAfterMs: settings.arrays.splitAfterMs, logger, now });
  const events = members.map(connectionEvents);
  let flushIsDue = false;
  let stopped = false;

  function submit(ask: Ask): void {
    const lane = lanes[ask.plan.lane];
    if (lane === undefined || stopped || !hasRoomFor(lane, ask)) refuse(ask, "unavailable");
    else if (!enterGroup(lane, ask)) refuse(ask, "crowded");
    else takeIn(lane, ask);
  }

  /** Where the queue is full, a call of the key that crowds it goes for one of a key that does not. */
  function hasRoomFor(lane: Lane, ask: Ask): boolean {
    if (waiting(lane) < lane.queueMax) return true;
    const other = lane.fresh.makeRoom(ask.group);
    if (other !== undefined) calls.finish(other, "unavailable");
    return other !== undefined;
  }

  function takeIn(lane: Lane, ask: Ask): void {
    hedges.earn();
    const directed = ask.target === undefined ? undefined : members[ask.target]?.lanes[lane.index]?.directed;
    if (directed !== undefined) {
      directed.push(ask);
      lane.directed += 1;
    } else if (ask.tried !== 0) calls.queueAgain(ask);
    else lane.fresh.push(ask);
    flushSoon();
  }

  function refuse(ask: Ask, why: "unavailable" | "crowded"): void {
    ask.settled = true;
    ask.settle(why, ask);
  }

  function enterGroup(lane: Lane, ask: Ask): boolean {
    if (ask.group === undefined) return true;
    ask.counted = lane.groups.enter(ask.group);
    if (hasLongAnswers(ask.counted, ask.plan.rule.name)) ask.alone = true;
    return ask.counted !== undefined;
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
    if (lane.directed > 0) for (const member of members) pumpDirected(lane, member);
    if (lane.again.length > 0) pumpAgain(lane);
    while (lane.fresh.count() > 0) {
      const member = choose(lane.index, 0);
      if (member === "busy") return;
      if (member === "none") {
        for (const ask of lane.fresh.drain()) calls.finish(ask, "unavailable");
        return;
      }
      const memberLane = member.lanes[lane.index];
      if (memberLane !== undefined) memberLane.wasDirected = false;
      sendOff(lane.fresh.take(limitsFor(lane, member)), lane, member);
    }
  }

  function limitsFor(lane: Lane, member: Member): { callsMax: number; paramsBytesMax: number } {
    const { paramsBytesMax } = settings.arrays;
    const isTrial = member.health.state() !== "closed";
    const callsMax = isLastPlace(lane, member) ? 1 : lane.callsMax;
    return { callsMax: isTrial ? Math.min(trialCallsMax, callsMax) : callsMax, paramsBytesMax };
  }

  /**
   * Where calls may be slow the last connection to a validator carries one call at a time: whoever else's arrays are on
   * the others, it is free again after one call's time.
   */
  function isLastPlace(lane: Lane, { lanes }: Member): boolean {
    const memberLane = lanes[lane.index];
    if (memberLane === undefined || lane.turns.isMixed || memberLane.max === 1) return false;
    return places(memberLane) <= 1;
  }

  function pumpDirected(lane: Lane, member: Member): void {
    const memberLane = member.lanes[lane.index];
    if (memberLane === undefined) return;
    const { directed } = memberLane;
    while (directed.count() > 0 && hasRoom(member, memberLane)) {
      // The last place is theirs and everybody else's by turns.
      if (memberLane.wasDirected && places(memberLane) <= 1 && lane.fresh.count() > 0) return;
      memberLane.wasDirected = true;
      const before = directed.count();
      const taken = directed.take(limitsFor(lane, member));
      lane.directed -= before - directed.count();
      sendOff(taken, lane, member);
    }
  }

  /** Each is put to a validator that it was not asked of; those behind it that may go there too go along. */
  function pumpAgain(lane: Lane): void {
    const asks: (Ask | undefined)[] = lane.again.length > keptBeforeRest ? byTurns(lane.again) : lane.again;
    lane.again = [];
    let kept = 0;
    for (let index = 0; index < asks.length; index += 1) {
      const ask = asks[index];
      if (ask === undefined || ask.settled) continue;
      if (ask.after?.settled === false) {
        lane.again.push(ask);
        continue;
      }
      ask.after = undefined;
      const member = kept < keptBeforeRest ? chooseAgain(ask, lane) : "busy";
      if (member === "busy") {
        kept += 1;
        lane.again.push(ask);
      } else if (member === "none") {
        ask.isWaiting = false;
        // Where it is in another request still, that one may be answered.
        if (ask.flights === 0) calls.finish(ask, ask.fallback ?? "unavailable");
      } else sendOff(takeCompanions(asks, index, companyAt(ask, lane, member)), lane, member);
    }
  }

  function companyAt(ask: Ask, lane: Lane, member: Member) {
    const { isMixed, callsMaxOf } = lane.turns;
    const { callsMax, paramsBytesMax } = limitsFor(lane, member);
    return { callsMax: Math.min(callsMax, callsMaxOf(ask)), paramsBytesMax, isMixed, bit: member.bit };
  }

  /** When all were asked in vain, each is asked a second time before the call is given up. */
  function chooseAgain(ask: Ask, lane: Lane): Member | "busy" | "none" {
    const member = choose(lane.index, ask.tried);
    if (member !== "none") return member;
    if (ask.mayRepeat) return choose(lane.index, 0);
    if (ask.flights > 0 || ask.isSecondRound) return member;
    ask.isSecondRound = true;
    ask.tried = 0;
    return choose(lane.index, 0);
  }

  function sendOff(asks: readonly Ask[], lane: Lane, member: Member): void {
    const memberLane = member.lanes[lane.index];
    const memberEvents = events[member.index];
    if (asks.length === 0 || memberLane === undefined || memberEvents === undefined) return;
    const sentAtMs = now();
    let timeoutMs = 0;
    for (const ask of asks) {
      ask.isWaiting = false;
      ask.mayRepeat = false;
      ask.sentAtMs = sentAtMs;
      ask.tried |= member.bit;
      ask.flights += 1;
      ask.askedOf = member.index;
      if (ask.plan.rule.timeoutMs > timeoutMs) timeoutMs = ask.plan.rule.timeoutMs;
    }
    const isTrial = member.health.state() !== "closed";
    if (isTrial) member.trialFlights += 1;
    const flight: Flight = {
      validator: member.index,
      lane: lane.index,
      asks,
      sentAtMs,
      endsAtMs: sentAtMs + timeoutMs,
      isTrial,
      isAtHead: head.isEligible(member.label),
      hasLeft: false,
      isHedged: false,
      isMoved: false,
      isAbandoned: false,
    };
    countRequest(member.stats, flight);
    takeConnection(memberLane, () => openConnection(member, memberEvents)).send(flight, composeBody(asks));
  }

  function connectionEvents(member: Member): ConnectionEvents {
    /** The connection is free before its calls are settled, and takes what has gathered after that. */
    const landed = (connection: Connection, flight: Flight, settle: () => void) => {
      const lane = lanes[flight.lane];
      if (lane === undefined || stopped) return;
      member.lanes[flight.lane]?.free.push(connection);
      if (!flight.isAbandoned) {
        if (flight.isTrial) member.trialFlights -= 1;
        for (const ask of flight.asks) ask.flights -= 1;
      }
      settle();
      if (waiting(lane) > 0 && !flushIsDue) pump(lane);
    };
    return {
      bytesCame(flight) {
        // Of a long answer each byte counts; a short one is there, or it is not.
        if (flight.lane === slowLane) member.progressAtMs = now();
      },
      answered: (connection, flight, answer) =>
        landed(connection, flight, () => landing.answered(member, flight, answer)),
      failed: (connection, flight, reason) =>
        landed(connection, flight, () => landing.failed(member, flight, reason)),
      streamBegan(flight, answer) {
        const nowMs = now();
        member.health.succeeded(nowMs);
        // To its first bytes: what follows is its reader's time.
        member.lanes[flight.lane]?.latency.add(nowMs - flight.sentAtMs);
        lanes[flight.lane]?.latency.add(nowMs - flight.sentAtMs);
        const [ask] = flight.asks;
        if (ask?.counted !== undefined) noteAnswerLength(ask.counted, ask.plan.rule.name, longAnswerChars);
        if (ask !== undefined) calls.finish(ask, answer);
      },
      streamEnded: (connection, flight) => landed(connection, flight, () => {}),
    };
  }

  function settleAll(): void {
    stopped = true;
    const left: Ask[] = [];
    for (const lane of lanes) left.push(...lane.fresh.drain(), ...lane.again.splice(0));
    for (const memberLane of members.flatMap((member) => member.lanes)) {
      left.push(...memberLane.directed.drain());
      for (const { flight } of memberLane.connections) left.push(...(flight?.asks ?? []));
    }
    for (const ask of left) calls.finish(ask, "unavailable");
  }

  return {
    lanes,
    calls,
    submit,
    flushSoon,

    giveUp(connection, member, reason) {
      const { flight } = connection;
      if (flight === undefined) return;
      const memberLane = member.lanes[flight.lane];
      calls.abandon(flight, reason);
      connection.failStream();
      if (memberLane !== undefined) dropConnection(memberLane, connection);
      flushSoon();
    },

    splitUp(connection, member) {
      const { flight } = connection;
      const memberLane = flight === undefined ? undefined : member.lanes[flight.lane];
      if (flight === undefined || memberLane === undefined) return;
      // The first array keeps its connection, because its answer may come, as long as it leaves others a place.
      const isHalf = flight.asks.some(({ arrayMax }) => arrayMax !== anyLength);
      const keepsPlace = !isHalf && places(memberLane) > 1;
      calls.splitUp(flight);
      if (!keepsPlace) dropConnection(memberLane, connection);
      flushSoon();
    },

    moveAll(member, reason) {
      for (const [index, memberLane] of member.lanes.entries()) {
        const asks = memberLane.directed.drain();
        const lane = lanes[index];
        if (lane !== undefined) lane.directed -= asks.length;
        for (const ask of asks) calls.askAgain(ask, member, reason);
        for (const { flight } of memberLane.connections) {
          if (flight !== undefined) calls.abandon(flight, reason);
        }
      }
    },

    settleAll,

    stop() {
      settleAll();
      for (const memberLane of members.flatMap((member) => member.lanes)) {
        for (const connection of memberLane.connections) {
          connection.failStream();
          connection.destroy();
        }
        memberLane.connections = [];
        memberLane.free = [];
      }
    },
  };
}
