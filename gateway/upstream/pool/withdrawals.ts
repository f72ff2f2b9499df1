import type { Connection, FailureReason } from "./connection.ts";
import type { Failover } from "./failover.ts";
import type { Lane } from "./lanes.ts";
import type { LateRequests } from "./late-requests.ts";
import { anyLength } from "./upstream-call.ts";
import { dropConnection, places, type Validator } from "./validator.ts";

export type Withdrawals = {
  /** Closes a connection, frees its place and retries its calls elsewhere. */
  giveUp(connection: Connection, validator: Validator, reason: FailureReason): void;
  /** Retries the calls of a late array in halves. */
  splitUp(connection: Connection, validator: Validator): void;
  /** A validator was ejected: retries its calls elsewhere. */
  moveAll(validator: Validator, reason: FailureReason): void;
};

/** Takes calls back that wait for a validator, or for one of its answers. */
export function createWithdrawals({
  lanes,
  lateRequests,
  failover,
  flushSoon,
}: {
  lanes: readonly Lane[];
  lateRequests: Pick<LateRequests, "abandon" | "splitUp">;
  failover: Pick<Failover, "retry">;
  flushSoon: () => void;
}): Withdrawals {
  return {
    giveUp(connection, validator, reason) {
      const { request } = connection;
      if (request === undefined) return;
      const validatorLane = validator.lanes[request.lane];
      lateRequests.abandon(request, reason);
      connection.failStream();
      if (validatorLane !== undefined) dropConnection(validatorLane, connection);
      flushSoon();
    },

    splitUp(connection, validator) {
      const { request } = connection;
      const validatorLane = request === undefined ? undefined : validator.lanes[request.lane];
      if (request === undefined || validatorLane === undefined) return;
      // The first array keeps its connection, because its answer may come, as long as it leaves others a place.
      const isHalf = request.calls.some(({ arrayMax }) => arrayMax !== anyLength);
      const keepsPlace = !isHalf && places(validatorLane) > 1;
      lateRequests.splitUp(request);
      if (!keepsPlace) dropConnection(validatorLane, connection);
      flushSoon();
    },

    moveAll(validator, reason) {
      for (const [index, validatorLane] of validator.lanes.entries()) {
        const calls = validatorLane.directed.drain();
        const lane = lanes[index];
        if (lane !== undefined) lane.directed -= calls.length;
        for (const call of calls) failover.retry(call, validator, reason);
        for (const { request } of validatorLane.connections) {
          if (request !== undefined) lateRequests.abandon(request, reason);
        }
      }
    },
  };
}
