import type { FinishCall } from "./finish-call.ts";
import { hasLongAnswers } from "./group-counts.ts";
import type { HedgeBudget } from "./hedge-budget.ts";
import { type Lane, waiting } from "./lanes.ts";
import type { UpstreamCall } from "./upstream-call.ts";
import type { Validator } from "./validator.ts";

/** Makes the function that queues a new call, or says why it is refused. */
export function createIntake({
  validators,
  finish,
  hedges,
  queueAgain,
}: {
  validators: readonly Validator[];
  finish: FinishCall;
  hedges: Pick<HedgeBudget, "earn">;
  queueAgain: (call: UpstreamCall) => void;
}) {
  /** In a full queue a call of the key that crowds it gives way to a call of another key. */
  function hasRoomFor(lane: Lane, call: UpstreamCall): boolean {
    if (waiting(lane) < lane.queueMax) return true;
    const other = lane.fresh.makeRoom(call.group);
    if (other !== undefined) finish(other, "unavailable");
    return other !== undefined;
  }

  function enterGroup(lane: Lane, call: UpstreamCall): boolean {
    if (call.group === undefined) return true;
    call.counted = lane.groups.enter(call.group);
    if (hasLongAnswers(call.counted, call.plan.rule.name)) call.alone = true;
    return call.counted !== undefined;
  }

  return function takeIn(lane: Lane, call: UpstreamCall): "unavailable" | "crowded" | "unsent" | undefined {
    // It was taken out of the configuration since it was chosen.
    if (call.target !== undefined && validators[call.target]?.stay !== "configured") return "unsent";
    if (!hasRoomFor(lane, call)) return "unavailable";
    if (!enterGroup(lane, call)) return "crowded";
    hedges.earn();
    const { target } = call;
    const directed = target === undefined ? undefined : validators[target]?.lanes[lane.index]?.directed;
    if (directed !== undefined) {
      directed.push(call);
      lane.directed += 1;
    } else if (call.tried !== 0) queueAgain(call);
    else lane.fresh.push(call);
    return undefined;
  };
}
