import type { Choose } from "./choose.ts";
import type { TakeLimits } from "./fair-queue.ts";
import type { FinishCall } from "./finish-call.ts";
import type { Lane } from "./lanes.ts";
import type { PoolSettings } from "./pool-settings.ts";
import { byTurns, takeCompanions } from "./take-array.ts";
import type { UpstreamCall } from "./upstream-call.ts";
import { hasRoom, places, type Validator } from "./validator.ts";

/** Longest array for a half-open validator. */
const halfOpenCallsMax = 8;
/** So many retried calls may find no connection before the rest of their queue is left as it is. */
const keptBeforeRest = 64;

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
  function limitsFor(lane: Lane, validator: Validator, isMixed = true): TakeLimits {
    const { paramsBytesMax } = settings.arrays;
    const isHalfOpen = validator.health.state() !== "closed";
    const callsMax = isLastPlace(lane, validator) ? 1 : lane.callsMax;
    return {
      callsMax: isHalfOpen ? Math.min(halfOpenCallsMax, callsMax) : callsMax,
      paramsBytesMax,
      isMixed,
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

  /** Sends each retried call to a validator that has not had it, together with later ones that may go there too. */
  function pumpAgain(lane: Lane): void {
    const calls: (UpstreamCall | undefined)[] = byTurns(lane.again);
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
        // Another request that holds it may still be answered.
        if (call.inFlight === 0) finish(call, call.fallback ?? "unavailable");
      } else {
        lane.wasAgain = true;
        sendRequest(takeCompanions(calls, index, companionsFor(call, lane, validator)), lane, validator);
      }
    }
  }

  function companionsFor(call: UpstreamCall, lane: Lane, validator: Validator) {
    const { callsMaxOf } = lane.turns;
    const { callsMax, paramsBytesMax } = limitsFor(lane, validator);
    // Calls of an array that failed no longer share one with other keys: the culprit holds up its own key only.
    const isMixed = lane.turns.isMixed && !call.mayRepeat;
    return { callsMax: Math.min(callsMax, callsMaxOf(call)), paramsBytesMax, isMixed, bit: validator.bit };
  }

  /** After all validators failed, each is tried a second time before the call is given up. */
  function chooseAgain(call: UpstreamCall, lane: Lane): Validator | "busy" | "none" {
    const validator = choose(lane.index, call.tried);
    if (validator !== "none") return validator;
    if (call.mayRepeat) return choose(lane.index, 0);
    if (call.inFlight > 0 || call.isSecondRound) return validator;
    call.isSecondRound = true;
    call.tried = 0;
    return choose(lane.index, 0);
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
