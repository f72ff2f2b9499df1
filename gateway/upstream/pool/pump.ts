import type { Choose } from "./choose.ts";
import type { FinishCall } from "./finish-call.ts";
import type { Lane } from "./lanes.ts";
import type { PoolSettings } from "./pool-settings.ts";
import { createPumpAgain } from "./pump-again.ts";
import { createTakeLimits } from "./take-limits.ts";
import type { UpstreamCall } from "./upstream-call.ts";
import { hasRoom, places, type Validator } from "./validator.ts";

/** Makes the function that sends the waiting calls of a lane, as far as connections are free. */
export function createPump({
  validators,
  choose,
  sendRequest,
  finish,
  settings,
}: {
  validators: readonly Validator[];
  choose: Choose;
  sendRequest: (calls: readonly UpstreamCall[], lane: Lane, validator: Validator) => void;
  finish: FinishCall;
  settings: PoolSettings;
}) {
  const limitsFor = createTakeLimits(settings.arrays);
  const pumpAgain = createPumpAgain({ choose, limitsFor, sendRequest, finish });

  /** Calls for this one validator. */
  function pumpDirected(lane: Lane, validator: Validator): void {
    const validatorLane = validator.lanes[lane.index];
    if (validatorLane === undefined) return;
    const { directed } = validatorLane;
    while (directed.count() > 0 && hasRoom(validator, validatorLane)) {
      // They take the last place by turns with everybody else's calls.
      if (validatorLane.wasDirected && places(validatorLane) <= 1 && lane.fresh.count() > 0) return;
      validatorLane.wasDirected = true;
      const before = directed.count();
      const taken = directed.take(limitsFor(lane, validator));
      lane.directed -= before - directed.count();
      sendRequest(taken, lane, validator);
    }
  }

  /** Sends one request of new calls. False where none can be sent now. */
  function pumpFresh(lane: Lane): boolean {
    const validator = choose(lane.index, 0);
    if (validator === "busy") return false;
    if (validator === "none") {
      for (const call of lane.fresh.drain()) finish(call, "unavailable");
      return false;
    }
    const validatorLane = validator.lanes[lane.index];
    if (validatorLane !== undefined) validatorLane.wasDirected = false;
    lane.wasAgain = false;
    // While retries wait, some key's calls are slow or spoil arrays: other keys share none with them.
    const isMixed = lane.again.length === 0;
    sendRequest(lane.fresh.take(limitsFor(lane, validator, isMixed)), lane, validator);
    return true;
  }

  return function pump(lane: Lane): void {
    if (lane.directed > 0) for (const validator of validators) pumpDirected(lane, validator);
    if (lane.again.length > 0) {
      // Retried calls go first, but by turns with new ones: one key's retries must not hold up another key's calls.
      if (lane.wasAgain && lane.fresh.count() > 0) pumpFresh(lane);
      pumpAgain(lane);
    }
    while (lane.fresh.count() > 0 && pumpFresh(lane));
  };
}
