import { type PoolHead, tierOf } from "./choose.ts";
import type { Dispatcher } from "./dispatcher.ts";
import { type Lane, lightLane, slowLane } from "./lanes.ts";
import type { Pinger } from "./pinger.ts";
import type { PoolSettings } from "./pool-settings.ts";
import type { Validator, ValidatorLane } from "./validator.ts";

/** How long the requests to a slow validator are hedged without counting against the budget. */
const watchedMs = 10_000;
/** How long after its return a validator may still answer requests from before. */
const oldRequestsMs = 500;

/** Looks at each validator's health: pings silent ones, passes over slow ones, drops requests from before an outage. */
export function createHealthSweep({
  validators,
  pingerOf,
  dispatcher,
  head,
  settings: { health },
  startedAtMs,
}: {
  validators: readonly Validator[];
  pingerOf: (validator: Validator) => Pinger;
  dispatcher: Pick<Dispatcher, "giveUp">;
  head: PoolHead;
  settings: Pick<PoolSettings, "health">;
  startedAtMs: number;
}) {
  const inUseSinceMs: (number | undefined)[] = validators.map(() => startedAtMs);

  /** It is in use, and has proved nothing for long, because it got no calls. */
  function isQuiet({ health: { state, isSuspect }, progressAtMs }: Validator, nowMs: number): boolean {
    if (state() !== "closed" || isSuspect()) return false;
    return nowMs - Math.max(progressAtMs, startedAtMs) >= health.quietMsMax;
  }

  /**
   * A validator that answers again does not answer requests from before its outage: their connections are broken (a network
   * that was cut). They would hold its places until their time is over.
   */
  function dropOldRequests(validator: Validator, nowMs: number): void {
    const isOut = validator.health.state() === "open";
    const sinceMs = isOut ? undefined : (inUseSinceMs[validator.index] ?? nowMs);
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

  return {
    sweepValidator(validator: Validator, nowMs: number): void {
      const pinger = pingerOf(validator);
      validator.health.tick(nowMs);
      validator.behindSinceMs = head.isEligible(validator.label)
        ? undefined
        : (validator.behindSinceMs ?? nowMs);
      if (tierOf(validator, lightLane, head) < 3) validator.firstInAtMs ??= nowMs;
      else if (validator.firstInAtMs !== undefined) validator.wasOutAtMs = nowMs;
      if (silentMs(validator, nowMs) > health.suspectAfterMs) validator.health.isSilent(nowMs);
      pinger.sweep(nowMs);
      if (!pinger.isPinging() && (validator.health.needsPing(nowMs) || isQuiet(validator, nowMs))) {
        pinger.ping();
      }
      dropOldRequests(validator, nowMs);
    },

    /** Passes over validators that are many times slower than the others, as long as they are. */
    compare(lane: Lane, nowMs: number, elapsedMs: number): void {
      if (lane.index === slowLane) return;
      const apparentMs = validators.map((validator) => apparentMsOf(validator.lanes[lane.index], nowMs));
      const isCompared = (other: Validator | undefined) =>
        other?.stay === "configured" && other.health.state() !== "open";
      for (const validator of validators) {
        const validatorLane = validator.lanes[lane.index];
        if (validatorLane === undefined) continue;
        const others = apparentMs.filter(
          (_ms, index) => index !== validator.index && isCompared(validators[index]),
        );
        const slowMs = Math.max(health.slowMsMin, health.slowFactor * median(others));
        validatorLane.isSlow = others.length > 0 && (apparentMs[validator.index] ?? 0) > slowMs;
        if (validatorLane.isSlow) validatorLane.watchedUntilMs = nowMs + watchedMs;
        validatorLane.latency.age(elapsedMs);
      }
    },
  };
}

/** How long a validator with open requests has sent nothing. A stream does not count: it may stand still for its reader. */
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

/** How slow it looks: its mean of late, or the age of its oldest request. */
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
