import { type PoolHead, tierOf } from "./choose.ts";
import type { Connection, Flight } from "./connection.ts";
import type { Dispatcher } from "./dispatcher.ts";
import type { HedgeBudget } from "./hedge-budget.ts";
import { dropSettled, type Lane, lightLane, slowLane, waiting } from "./lanes.ts";
import type { Pinger } from "./pinger.ts";
import type { PoolSettings } from "./pool-settings.ts";
import { type Ask, anyLength } from "./upstream-call.ts";
import { type Member, type MemberLane, places } from "./validator.ts";

/** After this part of its time a late call is asked of another validator, whatever the allowance for hedges. */
const movedAfterPart = 0.25;
/** How long requests are watched more closely at a validator that was slow. */
const watchedMs = 10_000;
/** How long after it came back a validator may still answer requests from before. */
const oldRequestsMs = 500;

/**
 * The one look at the clock for everything that takes time: each `sweepMs` it ends what is late, doubts what is silent
 * and lets ping what is out. A timer for each call would cost more than the call.
 */
export function createSweep({
  members,
  pingers,
  dispatcher,
  hedges,
  head,
  settings,
  now,
}: {
  members: readonly Member[];
  pingers: readonly Pinger[];
  dispatcher: Dispatcher;
  hedges: HedgeBudget;
  head: PoolHead;
  settings: PoolSettings;
  now: () => number;
}): { sweep(): void } {
  const { arrays, health, hedge, streamStallMs, streamMsMax } = settings;
  let lastSweepMs = now();
  const startedAtMs = lastSweepMs;
  let wasHeldUp = false;
  const inUseSinceMs: (number | undefined)[] = members.map(() => lastSweepMs);

  function sweepConnection(connection: Connection, lane: Lane, member: Member, nowMs: number): void {
    const { flight } = connection;
    if (flight === undefined) return;
    const stalledMs = connection.streamStalledMs(nowMs);
    if (stalledMs !== undefined) {
      const isOver = stalledMs >= streamStallMs || nowMs - flight.sentAtMs >= streamMsMax;
      if (isOver) dispatcher.giveUp(connection, member, "timeout");
      return;
    }
    const whenOver = flight.lane === slowLane && flight.hasLeft ? "overdue" : "unavailable";
    member.stats.failures.timeout += expire(flight.asks, nowMs, whenOver);
    const isOver = nowMs >= flight.endsAtMs || isInTheWay(flight, lane, member);
    if (isOver) dispatcher.giveUp(connection, member, "timeout");
    else if (!flight.isAbandoned) askOthersIfLate(connection, flight, lane, member, nowMs);
  }

  function askOthersIfLate(
    connection: Connection,
    flight: Flight,
    lane: Lane,
    member: Member,
    nowMs: number,
  ): void {
    if (lane.index === slowLane) return;
    const ageMs = nowMs - flight.sentAtMs;
    const isArray = flight.asks.length > 1;
    if (isArray && (isStuck(flight, nowMs) || ageMs >= splitAfterMs(flight, lane))) {
      dispatcher.splitUp(connection, member);
    } else if (!flight.isMoved && isStuck(flight, nowMs)) {
      if (mayBeMoved(flight, member, nowMs)) dispatcher.calls.move(flight);
    } else if (!flight.isHedged && ageMs >= lateAfterMs(lane) && mayBeHedged(flight, lane, member)) {
      const isFree = flight.isTrial || nowMs < (member.lanes[lane.index]?.watchedUntilMs ?? 0);
      dispatcher.calls.hedge(flight, isFree ? () => true : hedges.take);
    }
  }

  /**
   * A call that runs the EVM may be long by itself, and may be what ends its validator. So it is asked of a second one
   * only where it is the validator that is late, with all such calls. (One that answers no ping is taken out, and what it
   * had is asked elsewhere, before long.)
   */
  function mayBeHedged(flight: Flight, lane: Lane, member: Member): boolean {
    if (lane.index === lightLane || flight.isTrial) return true;
    return (member.lanes[lane.index]?.latency.meanMs() ?? 0) > health.slowMsMin;
  }

  /** The same where it is very late: alone it stays, unless others are stuck there too. */
  function mayBeMoved(flight: Flight, member: Member, nowMs: number): boolean {
    if (flight.lane === lightLane || flight.isTrial) return true;
    let stuck = 0;
    for (const { flight: other } of member.lanes[flight.lane]?.connections ?? []) {
      if (other !== undefined && isStuck(other, nowMs)) stuck += 1;
    }
    return stuck > 1;
  }

  /** An array whose calls are asked in halves holds the last connection while others wait for one. */
  function isInTheWay(flight: Flight, lane: Lane, member: Member): boolean {
    const memberLane = member.lanes[lane.index];
    const isSplit = flight.isAbandoned && flight.isMoved && flight.asks.length > 1;
    return isSplit && memberLane !== undefined && places(memberLane) === 0 && waiting(lane) > 0;
  }

  /**
   * When an array that is not answered is asked again in halves. A half of one sooner, where something else was answered quickly
   * since: then there is a culprit in it. Where nothing is, validators are slow, and to ask more of them helps nobody.
   */
  function splitAfterMs({ asks: [ask], sentAtMs }: Flight, lane: Lane): number {
    const isHalf = ask !== undefined && ask.arrayMax !== anyLength;
    const factor = isHalf ? (lane.quickAnswerAtMs > sentAtMs ? 0.5 : 2) : 1;
    return Math.max(factor * arrays.splitAfterMs, hedge.p95Factor * lane.latency.p95Ms());
  }

  function lateAfterMs(lane: Lane): number {
    return Math.max(hedge.afterMsMin, hedge.p95Factor * lane.latency.p95Ms());
  }

  /** A call whose time is over is answered what is known, wherever it stands. Tells how many there were. */
  function expire(asks: readonly Ask[], nowMs: number, whenOver: "unavailable" | "overdue"): number {
    let expired = 0;
    for (const ask of asks) if (expireOne(ask, nowMs, whenOver)) expired += 1;
    return expired;
  }

  function expireOne(ask: Ask, nowMs: number, whenOver: "unavailable" | "overdue" = "unavailable"): boolean {
    if (ask.settled || nowMs < ask.deadlineMs) return false;
    dispatcher.calls.finish(ask, ask.fallback ?? whenOver);
    return true;
  }

  function sweepQueues(lane: Lane, nowMs: number): void {
    lane.groups.forgetIdle();
    if (waiting(lane) === 0) return;
    const expireWaiting = (ask: Ask) => {
      expireOne(ask, nowMs);
    };
    lane.fresh.forEach(expireWaiting);
    for (const ask of lane.again) expireWaiting(ask);
    for (const { lanes } of members) lanes[lane.index]?.directed.forEach(expireWaiting);
    dropSettled(lane, members);
  }

  function sweepMember(member: Member, nowMs: number): void {
    const pinger = pingers[member.index];
    for (const lane of dispatcher.lanes) {
      const memberLane = member.lanes[lane.index];
      if (memberLane === undefined) continue;
      for (const connection of memberLane.connections) sweepConnection(connection, lane, member, nowMs);
    }
    member.health.tick(nowMs);
    member.behindSinceMs = head.isEligible(member.label) ? undefined : (member.behindSinceMs ?? nowMs);
    if (tierOf(member, 0, head) >= 3) member.wasOutAtMs = nowMs;
    if (silentMs(member, nowMs) > health.suspectAfterMs) member.health.isSilent(nowMs);
    pinger?.sweep(nowMs);
    if (pinger?.isAsking() === false && (member.health.needsPing(nowMs) || isQuiet(member, nowMs)))
      pinger.ask();
    dropOldRequests(member, nowMs);
  }

  /** In use as far as is known, and nothing has proved it for long: nobody asked. */
  function isQuiet({ health: { state, isSuspect }, progressAtMs }: Member, nowMs: number): boolean {
    if (state() !== "closed" || isSuspect()) return false;
    return nowMs - Math.max(progressAtMs, startedAtMs) >= health.quietMsMax;
  }

  /**
   * Requests from before the outage that are not answered although the validator answers again will not be: their
   * connections are broken (a network that was cut). They would hold its places until their time is over.
   */
  function dropOldRequests(member: Member, nowMs: number): void {
    const sinceMs = member.health.state() === "open" ? undefined : (inUseSinceMs[member.index] ?? nowMs);
    inUseSinceMs[member.index] = sinceMs;
    if (sinceMs === undefined || nowMs - sinceMs < oldRequestsMs) return;
    for (const [index, memberLane] of member.lanes.entries()) {
      if (index === slowLane) continue;
      for (const connection of memberLane.connections) {
        const { flight } = connection;
        const isOld = flight?.isAbandoned === true && flight.sentAtMs < sinceMs;
        if (isOld) dispatcher.giveUp(connection, member, "hung");
      }
    }
  }

  /** Passes over who is many times slower than the others, as long as it is. */
  function compare(lane: Lane, nowMs: number, elapsedMs: number): void {
    if (lane.index === slowLane) return;
    const apparentMs = members.map((member) => apparentMsOf(member.lanes[lane.index], nowMs));
    for (const member of members) {
      const memberLane = member.lanes[lane.index];
      if (memberLane === undefined) continue;
      const others = apparentMs.filter(
        (_ms, index) => index !== member.index && members[index]?.health.state() !== "open",
      );
      const slowMs = Math.max(health.slowMsMin, health.slowFactor * median(others));
      memberLane.isSlow = others.length > 0 && (apparentMs[member.index] ?? 0) > slowMs;
      if (memberLane.isSlow) memberLane.watchedUntilMs = nowMs + watchedMs;
      memberLane.latency.age(elapsedMs);
    }
  }

  return {
    sweep() {
      const nowMs = now();
      const elapsedMs = nowMs - lastSweepMs;
      lastSweepMs = nowMs;
      // This process was held up itself: what seems late may only be unread. The next look tells, whenever it comes.
      wasHeldUp = !wasHeldUp && elapsedMs > health.sweepMs * 4;
      if (wasHeldUp) return;
      for (const lane of dispatcher.lanes) sweepQueues(lane, nowMs);
      for (const member of members) sweepMember(member, nowMs);
      for (const lane of dispatcher.lanes) compare(lane, nowMs, elapsedMs);
    },
  };
}

function isStuck({ sentAtMs, endsAtMs }: Flight, nowMs: number): boolean {
  return nowMs - sentAtMs >= (endsAtMs - sentAtMs) * movedAfterPart;
}

/** How long a validator has said nothing while it was asked something. A stream may stand still for its reader's sake. */
function silentMs(member: Member, nowMs: number): number {
  let longestMs = 0;
  for (const { connections } of member.lanes) {
    for (const { flight, streamStalledMs } of connections) {
      if (flight === undefined || flight.isAbandoned || streamStalledMs(nowMs) !== undefined) continue;
      longestMs = Math.max(longestMs, nowMs - Math.max(flight.sentAtMs, member.progressAtMs));
    }
  }
  return longestMs;
}

/** How slow it looks: what it took lately, or what it has been taking for its oldest request. */
function apparentMsOf(memberLane: MemberLane | undefined, nowMs: number): number {
  let longestMs = memberLane?.latency.meanMs() ?? 0;
  for (const { flight } of memberLane?.connections ?? []) {
    if (flight !== undefined && !flight.isAbandoned) longestMs = Math.max(longestMs, nowMs - flight.sentAtMs);
  }
  return longestMs;
}

function median(values: number[]): number {
  return values.sort((one, other) => one - other)[Math.floor(values.length / 2)] ?? 0;
}
