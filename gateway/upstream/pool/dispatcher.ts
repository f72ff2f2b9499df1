import type { Logger } from "pino";
import type { Choose, PoolHead } from "./choose.ts";
import type { Connection, ConnectionEvents } from "./connection.ts";
import { createFailover } from "./failover.ts";
import { createFinishCall, type FinishCall } from "./finish-call.ts";
import { createResponseHandler } from "./handle-response.ts";
import type { HedgeBudget } from "./hedge-budget.ts";
import { createIntake } from "./intake.ts";
import { createLanes, type Lane, waiting } from "./lanes.ts";
import { createLateRequests, type LateRequests } from "./late-requests.ts";
import type { PoolSettings } from "./pool-settings.ts";
import { createPump } from "./pump.ts";
import { createSendRequest } from "./send-requests.ts";
import type { UpstreamCall } from "./upstream-call.ts";
import type { Validator } from "./validator.ts";
import { createWithdrawals, type Withdrawals } from "./withdrawals.ts";

export type Dispatcher = Withdrawals & {
  readonly lanes: readonly Lane[];
  /** Settles a call, once. */
  finish: FinishCall;
  hedge: LateRequests["hedge"];
  move: LateRequests["move"];
  /** Takes a call in. It is settled exactly once, at once where too many calls wait. */
  submit(call: UpstreamCall): void;
  /** Sends at the end of this turn of the event loop what can be sent. */
  flushSoon(): void;
  /** Settles everything and takes nothing in any more. Streams go on. */
  settleAll(): void;
  /** Does the same and closes every connection. */
  stop(): void;
};

/**
 * Turns calls into requests. Calls that come in during one turn of the event loop leave together at its end. Where no
 * connection is free they wait for one. There is no timer, so light load is not delayed; the heavier the load, the longer
 * the arrays.
 */
export function createDispatcher({
  validators,
  openConnection,
  choose,
  head,
  hedges,
  settings,
  logger,
  now,
}: {
  validators: readonly Validator[];
  openConnection: (validator: Validator, events: ConnectionEvents) => Connection;
  choose: Choose;
  head: Pick<PoolHead, "isEligible">;
  hedges: Pick<HedgeBudget, "earn">;
  settings: PoolSettings;
  logger: Logger;
  now: () => number;
}): Dispatcher {
  const lanes = createLanes(settings);
  let flushIsDue = false;
  let stopped = false;

  const finish = createFinishCall({ validators, now });
  const failover = createFailover({ validators, lanes, settings, finish, flushSoon, now });
  const lateRequests = createLateRequests({ validators, failover });
  const { splitAfterMs } = settings.arrays;
  const responses = createResponseHandler({
    lanes,
    finish,
    failover,
    lateRequests,
    splitAfterMs,
    logger,
    now,
  });
  const sendRequest = createSendRequest({
    lanes,
    openConnection,
    responses,
    finish,
    head,
    isStopped: () => stopped,
    onFree(lane) {
      if (waiting(lane) > 0 && !flushIsDue) pump(lane);
    },
    now,
  });
  const pump = createPump({ validators, choose, sendRequest, finish, settings });
  const takeIn = createIntake({ validators, finish, hedges, queueAgain: failover.queueAgain });

  function submit(call: UpstreamCall): void {
    const lane = lanes[call.plan.lane];
    const refused = lane === undefined || stopped ? "unavailable" : takeIn(lane, call);
    if (refused === undefined) flushSoon();
    else {
      call.settled = true;
      call.settle(refused, call);
    }
  }

  function flushSoon(): void {
    if (flushIsDue) return;
    flushIsDue = true;
    setImmediate(flush);
  }

  function flush(): void {
    flushIsDue = false;
    for (const lane of lanes) pump(lane);
  }

  function settleAll(): void {
    stopped = true;
    const left: UpstreamCall[] = [];
    for (const lane of lanes) left.push(...lane.fresh.drain(), ...lane.again.splice(0));
    for (const validatorLane of validators.flatMap((validator) => validator.lanes)) {
      left.push(...validatorLane.directed.drain());
      for (const { request } of validatorLane.connections) left.push(...(request?.calls ?? []));
    }
    for (const call of left) finish(call, "unavailable");
  }

  return {
    lanes,
    finish,
    hedge: lateRequests.hedge,
    move: lateRequests.move,
    submit,
    flushSoon,
    ...createWithdrawals({ lanes, lateRequests, failover, flushSoon }),
    settleAll,

    stop() {
      settleAll();
      closeConnections(validators);
    },
  };
}

function closeConnections(validators: readonly Validator[]): void {
  for (const lane of validators.flatMap(({ lanes }) => lanes)) {
    for (const connection of lane.connections) {
      connection.failStream();
      connection.destroy();
    }
    lane.connections = [];
    lane.free = [];
  }
}
