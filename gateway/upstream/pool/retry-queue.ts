import type { Lane } from "./lanes.ts";
import type { UpstreamCall } from "./upstream-call.ts";
import type { Validator } from "./validator.ts";

/** Where calls wait that a validator failed. A call that waits already is not queued twice. */
export function createRetryQueue({ lanes, flushSoon }: { lanes: readonly Lane[]; flushSoon: () => void }) {
  return {
    /** Queues a call for a validator that has not had it yet. */
    queueAgain(call: UpstreamCall): void {
      if (call.isWaiting) return;
      call.isWaiting = true;
      lanes[call.plan.lane]?.again.push(call);
      flushSoon();
    },

    /** Queues a call for its one validator once more. */
    queueAtTarget(call: UpstreamCall, validator: Validator): void {
      const lane = lanes[call.plan.lane];
      if (lane === undefined || call.isWaiting) return;
      call.isWaiting = true;
      validator.lanes[lane.index]?.directed.push(call);
      lane.directed += 1;
      flushSoon();
    },

    /** Queues a call behind the new calls of its key, for any validator. */
    queueFresh(call: UpstreamCall): void {
      call.tried = 0;
      call.isWaiting = true;
      lanes[call.plan.lane]?.fresh.push(call);
      flushSoon();
    },
  };
}
