import { type PoolHead, tierOf } from "./choose.ts";
import type { Connection, UpstreamRequest } from "./connection.ts";
import type { Dispatcher } from "./dispatcher.ts";
import type { HedgeBudget } from "./hedge-budget.ts";
import { dropSettled, type Lane, lightLane, slowLane, waiting } from "./lanes.ts";
import type { Pinger } from "./pinger.ts";
import type { PoolSettings } from "./pool-settings.ts";
import { anyLength, type UpstreamCall } from "./upstream-call.ts";
import { places, type Validator, type ValidatorLane } from "./validator.ts";

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
  validators,
  pingers,
  dispatcher,
  hedges,
  head,
  settings,
  now,
}: {
  validators: readonly Validator[];
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
  const inUseSinceMs: (number | undefined)[] = validators.map(() => lastSweepMs);

  function sweepConnection(connection: Connection, lane: Lane, validator: Validator, nowMs: number): void {
    const { request } = connection;
    if (request === undefined) return;
    const stalledMs = connection.streamStalledMs(nowMs);
    if (stalledMs !== undefined) {
      const isOver = stalledMs >= streamStallMs || nowMs - request.sentAtMs >= streamMsMax;
      if (isOver) dispatcher.giveUp(connection, validator, "timeout");
      return;
    }
    const whenOver = request.lane === slowLane && request.hasLeft ? "overdue" : "unavailable";
    validator.stats.failures.timeout += expire(request.calls, nowMs, whenOver);
    const isOver = nowMs >= request.endsAtMs || isInTheWay(request, lane, validator);
    if (isOver) dispatcher.giveUp(connection, validator, "timeout");
    else if (!request.isAbandoned) askOthersIfLate(connection, request, lane, validator, nowMs);
  }

  function askOthersIfLate(
    connection: Connection,
    request: UpstreamRequest,
    lane: Lane,
    validator: Validator,
    nowMs: number,
  ): void {
    if (lane.index === slowLane) return;
    const ageMs = nowMs - request.sentAtMs;
    const isArray = request.calls.length > 1;
    if (isArray && (isStuck(request, nowMs) || ageMs >= splitAfterMs(request, lane))) {
      dispatcher.splitUp(connection, validator);
    } else if (!request.isMoved && isStuck(request, nowMs)) {
      if (mayBeMoved(request, validator, nowMs)) dispatcher.failover.move(request);
    } else if (!request.isHedged && ageMs >= lateAfterMs(lane) && mayBeHedged(request, lane, validator)) {
      const isFree = request.isHalfOpen || nowMs < (validator.lanes[lane.index]?.watchedUntilMs ?? 0);
      dispatcher.failover.hedge(request, isFree ? () => true : hedges.take);
    }
  }

  /**
   * A call that runs the EVM may be long by itself, and may be what ends its validator. So it is asked of a second one
   * only where it is the validator that is late, with all such calls. (One that answers no ping is taken out, and what it
   * had is asked elsewhere, before long.)
   */
  function mayBeHedged(request: UpstreamRequest, lane: Lane, validator: Validator): boolean {
    if (lane.index === lightLane || request.isHalfOpen) return true;
    return (validator.lanes[lane.index]?.latency.meanMs() ?? 0) > health.slowMsMin;
  }

  /** The same where it is very late: alone it stays, unless others are stuck there too. */
  function mayBeMoved(request: UpstreamRequest, validator: Validator, nowMs: number): boolean {
    if (request.lane === lightLane || request.isHalfOpen) return true;
    let stuck = 0;
    for (const { request: other } of validator.lanes[request.lane]?.connections ?? []) {
      if (other !== undefined && isStuck(other, nowMs)) stuck += 1;
    }
    return stuck > 1;
  }

  /** An array whose calls are asked in halves holds the last connection while others wait for one. */
  function isInTheWay(request: UpstreamRequest, lane: Lane, validator: Validator): boolean {
    const validatorLane = validator.lanes[lane.index];
    const isSplit = request.isAbandoned && request.isMoved && request.calls.length > 1;
    return isSplit && validatorLane !== undefined && places(validatorLane) === 0 && waiting(lane) > 0;
  }

  /**
   * When an array that is not answered is asked again in halves. A half of one sooner, where something else was answered quickly
   * since: then there is a culprit in it. Where nothing is, validators are slow, and to ask more of them helps nobody.
   */
  function splitAfterMs({ calls: [call], sentAtMs }: UpstreamRequest, lane: Lane): number {
    const isHalf = call !== undefined && call.arrayMax !== anyLength;
    const factor = isHalf ? (lane.quickAnswerAtMs > sentAtMs ? 0.5 : 2) : 1;
    return Math.max(factor * arrays.splitAfterMs, hedge.p95Factor * lane.latency.p95Ms());
  }

  function lateAfterMs(lane: Lane): number {
    return Math.max(hedge.afterMsMin, hedge.p95Factor * lane.latency.p95Ms());
  }

  /** A call whose time is over is answered what is known, wherever it stands. Tells how many there were. */
  function expire(
    calls: readonly UpstreamCall[],
    nowMs: number,
    whenOver: "unavailable" | "overdue",
  ): number {
    let expired = 0;
    for (const call of calls) if (expireOne(call, nowMs, whenOver)) expired += 1;
    return expired;
  }

  function expireOne(
    call: UpstreamCall,
    nowMs: number,
    whenOver: "unavailable" | "overdue" = "unavailable",
  ): boolean {
    if (call.settled || nowMs < call.deadlineMs) return false;
    dispatcher.failover.finish(call, call.fallback ?? whenOver);
    return true;
  }

  function sweepQueues(lane: Lane, nowMs: number): void {
    lane.groups.forgetIdle();
    if (waiting(lane) === 0) return;
    const expireWaiting = (call: UpstreamCall) => {
      expireOne(call, nowMs);
    };
    lane.fresh.forEach(expireWaiting);
    for (const call of lane.again) expireWaiting(call);
    for (const { lanes } of validators) lanes[lane.index]?.directed.forEach(expireWaiting);
    dropSettled(lane, validators);
  }

  function sweepValidator(validator: Validator, nowMs: number): void {
    const pinger = pingers[validator.index];
    for (const lane of dispatcher.lanes) {
      const validatorLane = validator.lanes[lane.index];
      if (validatorLane === undefined) continue;
      for (const connection of validatorLane.connections) sweepConnection(connection, lane, validator, nowMs);
    }
    validator.health.tick(nowMs);
    validator.behindSinceMs = head.isEligible(validator.label)
      ? undefined
      : (validator.behindSinceMs ?? nowMs);
    if (tierOf(validator, 0, head) < 3) validator.firstInAtMs ??= nowMs;
    else if (validator.firstInAtMs !== undefined) validator.wasOutAtMs = nowMs;
    if (silentMs(validator, nowMs) > health.suspectAfterMs) validator.health.isSilent(nowMs);
    pinger?.sweep(nowMs);
    if (pinger?.isPinging() === false && (validator.health.needsPing(nowMs) || isQuiet(validator, nowMs)))
      pinger.ping();
    dropOldRequests(validator, nowMs);
  }

  /** In use as far as is known, and nothing has proved it for long: nobody asked. */
  function isQuiet({ health: { state, isSuspect }, progressAtMs }: Validator, nowMs: number): boolean {
    if (state() !== "closed" || isSuspect()) return false;
    return nowMs - Math.max(progressAtMs, startedAtMs) >= health.quietMsMax;
  }

  /**
   * Requests from before the outage that are not answered although the validator answers again will not be: their
   * connections are broken (a network that was cut). They would hold its places until their time is over.
   */
  function dropOldRequests(validator: Validator, nowMs: number): void {
    const sinceMs =
      validator.health.state() === "open" ? undefined : (inUseSinceMs[validator.index] ?? nowMs);
    inUseSinceMs[validator.index] = sinceMs;
    if (sinceMs === undefined || nowMs - sinceMs < oldRequestsMs) return;
    for (const [index, validatorLane] of validator.lanes.entries()) {
      if (index === slowLane) continue;
      for (const connection of validatorLane.connections) {
        const { request } = connection;
        const isOld = request?.isAbandoned === true && request.sentAtMs < sinceMs;
        if (isOld) dispatcher.giveUp(connection, validator, "hung");
      }
    }
  }

  /** Passes over who is many times slower than the others, as long as it is. */
  function compare(lane: Lane, nowMs: number, elapsedMs: number): void {
    if (lane.index === slowLane) return;
    const apparentMs = validators.map((validator) => apparentMsOf(validator.lanes[lane.index], nowMs));
    for (const validator of validators) {
      const validatorLane = validator.lanes[lane.index];
      if (validatorLane === undefined) continue;
      const others = apparentMs.filter(
        (_ms, index) => index !== validator.index && validators[index]?.health.state() !== "open",
      );
      const slowMs = Math.max(health.slowMsMin, health.slowFactor * median(others));
      validatorLane.isSlow = others.length > 0 && (apparentMs[validator.index] ?? 0) > slowMs;
      if (validatorLane.isSlow) validatorLane.watchedUntilMs = nowMs + watchedMs;
      validatorLane.latency.age(elapsedMs);
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
      for (const validator of validators) sweepValidator(validator, nowMs);
      for (const lane of dispatcher.lanes) compare(lane, nowMs, elapsedMs);
    },
  };
}

function isStuck({ sentAtMs, endsAtMs }: UpstreamRequest, nowMs: number): boolean {
  return nowMs - sentAtMs >= (endsAtMs - sentAtMs) * movedAfterPart;
}

/** How long a validator has said nothing while it was asked something. A stream may stand still for its reader's sake. */
function silentMs(validator: Validator, nowMs: number): number {
  let longestMs = 0;
  for (const { connections } of validator.lanes) {
    for (const { request, streamStalledMs } of connections) {
      if (request === undefined || request.isAbandoned || streamStalledMs(nowMs) !== undefined) continue;
      longestMs = Math.max(longestMs, nowMs - Math.max(request.sentAtMs, validator.progressAtMs));
    }
  }
  return longestMs;
}

/** How slow it looks: what it took lately, or what it has been taking for its oldest request. */
function apparentMsOf(validatorLane: ValidatorLane | undefined, nowMs: number): number {
  let longestMs = validatorLane?.latency.meanMs() ?? 0;
  for (const { request } of validatorLane?.connections ?? []) {
    if (request !== undefined && !request.isAbandoned)
      longestMs = Math.max(longestMs, nowMs - request.sentAtMs);
  }
  return longestMs;
}

function median(values: number[]): number {
  return values.sort((one, other) => one - other)[Math.floor(values.length / 2)] ?? 0;
}
