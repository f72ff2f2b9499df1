import type { PoolHead } from "./choose.ts";
import type { Dispatcher } from "./dispatcher.ts";
import type { HedgeBudget } from "./hedge-budget.ts";
import { dropSettled, type Lane, waiting } from "./lanes.ts";
import type { Pinger } from "./pinger.ts";
import type { PoolSettings } from "./pool-settings.ts";
import { createHealthSweep } from "./sweep-health.ts";
import { createRequestSweep } from "./sweep-requests.ts";
import type { UpstreamCall } from "./upstream-call.ts";
import type { Validator } from "./validator.ts";

/**
 * The one look at the clock for everything that takes time: every `sweepMs` it ends what is over, retries what is late and
 * pings what is silent. A timer for each call would cost more than the call.
 */
export function createSweep({
  validators,
  pingerOf,
  removeDrained,
  dispatcher,
  hedges,
  head,
  settings,
  now,
}: {
  validators: readonly Validator[];
  pingerOf: (validator: Validator) => Pinger;
  /** Lets a validator go that is not configured any more and has nothing left to answer. */
  removeDrained: (validator: Validator) => void;
  dispatcher: Dispatcher;
  hedges: HedgeBudget;
  head: PoolHead;
  settings: PoolSettings;
  now: () => number;
}): { sweep(): void } {
  let lastSweepMs = now();
  let wasHeldUp = false;
  const sweepRequest = createRequestSweep({ dispatcher, hedges, expire, settings });
  const { sweepValidator, compare } = createHealthSweep({
    validators,
    pingerOf,
    dispatcher,
    head,
    settings,
    startedAtMs: lastSweepMs,
  });

  function expire(
    calls: readonly UpstreamCall[],
    nowMs: number,
    whenOver: "unavailable" | "overdue",
  ): number {
    let expired = 0;
    for (const call of calls) if (expireOne(call, nowMs, whenOver)) expired += 1;
    return expired;
  }

  /** A call whose time is over gets the best answer that is known, wherever it stands. */
  function expireOne(
    call: UpstreamCall,
    nowMs: number,
    whenOver: "unavailable" | "overdue" = "unavailable",
  ): boolean {
    if (call.settled || nowMs < call.deadlineMs) return false;
    dispatcher.finish(call, call.fallback ?? whenOver);
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

  function sweepRequests(validator: Validator, nowMs: number): void {
    for (const lane of dispatcher.lanes) {
      const validatorLane = validator.lanes[lane.index];
      if (validatorLane === undefined) continue;
      for (const connection of validatorLane.connections) sweepRequest(connection, lane, validator, nowMs);
    }
  }

  return {
    sweep() {
      const nowMs = now();
      const elapsedMs = nowMs - lastSweepMs;
      lastSweepMs = nowMs;
      // This process was held up itself: what seems late may only be unread. The next sweep tells, whenever it comes.
      wasHeldUp = !wasHeldUp && elapsedMs > settings.health.sweepMs * 4;
      if (wasHeldUp) return;
      for (const lane of dispatcher.lanes) sweepQueues(lane, nowMs);
      for (const validator of validators) {
        if (validator.stay === "gone") continue;
        sweepRequests(validator, nowMs);
        sweepValidator(validator, nowMs);
        if (validator.stay === "draining") removeDrained(validator);
      }
      for (const lane of dispatcher.lanes) compare(lane, nowMs, elapsedMs);
    },
  };
}
