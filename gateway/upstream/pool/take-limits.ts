import type { TakeLimits } from "./fair-queue.ts";
import type { Lane } from "./lanes.ts";
import type { PoolSettings } from "./pool-settings.ts";
import { places, type Validator } from "./validator.ts";

/** Longest array for a half-open validator. */
const halfOpenCallsMax = 8;

export type LimitsFor = ReturnType<typeof createTakeLimits>;

/** Makes the function that says how long the next array to a validator may be. */
export function createTakeLimits({ paramsBytesMax }: Pick<PoolSettings["arrays"], "paramsBytesMax">) {
  return function limitsFor(lane: Lane, validator: Validator, isMixed = true): TakeLimits {
    const isHalfOpen = validator.health.state() !== "closed";
    const callsMax = isLastPlace(lane, validator) ? 1 : lane.callsMax;
    return {
      callsMax: isHalfOpen ? Math.min(halfOpenCallsMax, callsMax) : callsMax,
      paramsBytesMax,
      isMixed,
    };
  };
}

/**
 * Where calls may be slow, the last connection to a validator carries one call at a time. So it is free again after the
 * time of one call, whatever arrays the other connections carry.
 */
function isLastPlace(lane: Lane, { lanes }: Validator): boolean {
  const validatorLane = lanes[lane.index];
  if (validatorLane === undefined || lane.turns.isMixed || validatorLane.max === 1) return false;
  return places(validatorLane) <= 1;
}
