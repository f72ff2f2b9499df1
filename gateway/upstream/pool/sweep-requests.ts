import type { Connection, UpstreamRequest } from "./connection.ts";
import type { Dispatcher } from "./dispatcher.ts";
import type { HedgeBudget } from "./hedge-budget.ts";
import { type Lane, lightLane, slowLane, waiting } from "./lanes.ts";
import type { PoolSettings } from "./pool-settings.ts";
import { anyLength, type UpstreamCall } from "./upstream-call.ts";
import { places, type Validator } from "./validator.ts";

/** After this part of its time a late call goes to another validator, whatever the hedge budget allows. */
const movedAfterPart = 0.25;

/** Makes the function that looks at the request of a connection: ends it when its time is over, retries it when it is late. */
export function createRequestSweep({
  dispatcher,
  hedges,
  expire,
  settings: { arrays, health, hedge, streamStallMs, streamMsMax },
}: {
  dispatcher: Dispatcher;
  hedges: HedgeBudget;
  /** Settles those of the calls whose time is over, and counts them. */
  expire: (calls: readonly UpstreamCall[], nowMs: number, whenOver: "unavailable" | "overdue") => number;
  settings: PoolSettings;
}) {
  function retryIfLate(
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
      if (mayBeMoved(request, validator, nowMs)) dispatcher.move(request);
    } else if (!request.isHedged && ageMs >= lateAfterMs(lane) && mayBeHedged(request, lane, validator)) {
      const isFree = request.isHalfOpen || nowMs < (validator.lanes[lane.index]?.watchedUntilMs ?? 0);
      dispatcher.hedge(request, isFree ? () => true : hedges.take);
    }
  }

  /**
   * A call that runs the EVM may be long by itself, and may end its validator. So it goes to a second one only where the
   * validator is late with all such calls. (A validator that answers no ping is ejected before long, and its calls are
   * retried.)
   */
  function mayBeHedged(request: UpstreamRequest, lane: Lane, validator: Validator): boolean {
    if (lane.index === lightLane || request.isHalfOpen) return true;
    return (validator.lanes[lane.index]?.latency.meanMs() ?? 0) > health.slowMsMin;
  }

  /** A very late call that runs the EVM stays where it is, unless others are stuck there too. */
  function mayBeMoved(request: UpstreamRequest, validator: Validator, nowMs: number): boolean {
    if (request.lane === lightLane || request.isHalfOpen) return true;
    let stuck = 0;
    for (const { request: other } of validator.lanes[request.lane]?.connections ?? []) {
      if (other !== undefined && isStuck(other, nowMs)) stuck += 1;
    }
    return stuck > 1;
  }

  /** A split array holds the last connection while other calls wait for one. */
  function isInTheWay(request: UpstreamRequest, lane: Lane, validator: Validator): boolean {
    const validatorLane = validator.lanes[lane.index];
    const isSplit = request.isAbandoned && request.isMoved && request.calls.length > 1;
    return isSplit && validatorLane !== undefined && places(validatorLane) === 0 && waiting(lane) > 0;
  }

  /**
   * When a late array is retried in halves. A half of one is split sooner where another request was answered quickly since:
   * the culprit is in this half. Where none was, the validators are slow, and more requests would not help.
   */
  function splitAfterMs({ calls: [call], sentAtMs }: UpstreamRequest, lane: Lane): number {
    const isHalf = call !== undefined && call.arrayMax !== anyLength;
    const factor = isHalf ? (lane.quickAnswerAtMs > sentAtMs ? 0.5 : 2) : 1;
    return Math.max(factor * arrays.splitAfterMs, hedge.p95Factor * lane.latency.p95Ms());
  }

  function lateAfterMs(lane: Lane): number {
    return Math.max(hedge.afterMsMin, hedge.p95Factor * lane.latency.p95Ms());
  }

  return function sweepRequest(
    connection: Connection,
    lane: Lane,
    validator: Validator,
    nowMs: number,
  ): void {
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
    else if (!request.isAbandoned) retryIfLate(connection, request, lane, validator, nowMs);
  };
}

function isStuck({ sentAtMs, endsAtMs }: UpstreamRequest, nowMs: number): boolean {
  return nowMs - sentAtMs >= (endsAtMs - sentAtMs) * movedAfterPart;
}
