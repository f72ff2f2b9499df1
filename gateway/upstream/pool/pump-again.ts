import type { Choose } from "./choose.ts";
import type { FinishCall } from "./finish-call.ts";
import type { Lane } from "./lanes.ts";
import { byTurns, takeCompanions } from "./take-array.ts";
import type { LimitsFor } from "./take-limits.ts";
import type { UpstreamCall } from "./upstream-call.ts";
import type { Validator } from "./validator.ts";

/** So many retried calls may find no connection before the rest of their queue is left as it is. */
const keptBeforeRest = 64;

/** Makes the function that sends the retried calls of a lane, as far as connections are free. */
export function createPumpAgain({
  choose,
  limitsFor,
  sendRequest,
  finish,
}: {
  choose: Choose;
  limitsFor: LimitsFor;
  sendRequest: (calls: readonly UpstreamCall[], lane: Lane, validator: Validator) => void;
  finish: FinishCall;
}) {
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

  /** Sends each retried call to a validator that has not had it, together with later ones that may go there too. */
  return function pumpAgain(lane: Lane): void {
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
  };
}
