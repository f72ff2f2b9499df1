import { type Ask, laneNames } from "./ask.ts";
import { type PoolHead, tierOf } from "./choose.ts";
import type { Connection, Flight } from "./connection.ts";
import type { Dispatcher } from "./dispatcher.ts";
import type { HedgeBudget } from "./hedge-budget.ts";
import { dropSettled, type Lane, slowLane, waiting } from "./lanes.ts";
import type { Member, MemberLane } from "./member.ts";
import type { Pinger } from "./pinger.ts";
import type { PoolSettings } from "./pool-settings.ts";

/**
 * After this part of its time a late call is asked of another validator, whatever the allowance for hedges. A trace may
 * well take so long, and costs a validator much: so it is asked of one other at most.
 */
const movedAfterPart = laneNames.map((lane) => (lane === "slow" ? 0.5 : 0.25));
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
  const { health, hedge, streamStallMs, streamMsMax } = settings;
  let lastSweepMs = now();
  let wasHeldUp = false;
  const inUseSinceMs: (number | undefined)[] = members.map(() => undefined);

  function sweepConnection(connection: Connection, lane: Lane, member: Member, nowMs: number): void {
    const { flight } = connection;
    if (flight === undefined) return;
    const stalledMs = connection.streamStalledMs(nowMs);
    if (stalledMs !== undefined) {
      const isOver = stalledMs >= streamStallMs || nowMs - flight.sentAtMs >= streamMsMax;
      if (isOver) dispatcher.giveUp(connection, member, "timeout");
      return;
    }
    member.stats.failures.timeout += expire(flight.asks, nowMs);
    if (nowMs >= flight.endsAtMs) dispatcher.giveUp(connection, member, "timeout");
    else if (!flight.isAbandoned) askOthersIfLate(flight, lane, member, nowMs);
  }

  function askOthersIfLate(flight: Flight, lane: Lane, member: Member, nowMs: number): void {
    const ageMs = nowMs - flight.sentAtMs;
    const movedAfterMs = (flight.endsAtMs - flight.sentAtMs) * (movedAfterPart[lane.index] ?? 1);
    if (!flight.isMoved && ageMs >= movedAfterMs) dispatcher.calls.move(flight);
    else if (!flight.isHedged && ageMs >= lateAfterMs(lane)) {
      const isFree = flight.isTrial || nowMs < (member.lanes[lane.index]?.watchedUntilMs ?? 0);
      dispatcher.calls.hedge(flight, isFree ? () => true : hedges.take);
    }
  }

  function lateAfterMs(lane: Lane): number {
    return Math.max(hedge.afterMsMin, hedge.p95Factor * lane.latency.p95Ms());
  }

  /** A call whose time is over is answered what is known, wherever it stands. Tells how many there were. */
  function expire(asks: readonly Ask[], nowMs: number): number {
    let expired = 0;
    for (const ask of asks) {
      if (ask.settled || nowMs < ask.deadlineMs) continue;
      expired += 1;
      dispatcher.calls.finish(ask, ask.fallback ?? "unavailable");
    }
    return expired;
  }

  function sweepQueues(lane: Lane, nowMs: number): void {
    lane.groups.forgetIdle();
    if (waiting(lane) === 0) return;
    expire(lane.fresh, nowMs);
    expire(lane.again, nowMs);
    for (const { lanes } of members) expire(lanes[lane.index]?.directed ?? [], nowMs);
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
    if (pinger?.isAsking() === false && member.health.needsPing(nowMs)) pinger.ask();
    dropOldRequests(member, nowMs);
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
