import type { Logger } from "pino";
import type { Choose, PoolHead } from "./choose.ts";
import type { Connection, ConnectionEvents, FailureReason } from "./connection.ts";
import { createFailover } from "./failover.ts";
import { createFinishCall, type FinishCall } from "./finish-call.ts";
import { hasLongAnswers } from "./group-counts.ts";
import { createResponseHandler } from "./handle-response.ts";
import type { HedgeBudget } from "./hedge-budget.ts";
import { createLanes, type Lane, waiting } from "./lanes.ts";
import { createLateRequests, type LateRequests } from "./late-requests.ts";
import type { PoolSettings } from "./pool-settings.ts";
import { createPump } from "./pump.ts";
import { createSendRequest } from "./send-requests.ts";
import { anyLength, type UpstreamCall } from "./upstream-call.ts";
import { dropConnection, places, type Validator } from "./validator.ts";

export type Dispatcher = {
  readonly lanes: readonly Lane[];
  /** Settles a call, once. */
  finish: FinishCall;
  hedge: LateRequests["hedge"];
  move: LateRequests["move"];
  /** Takes a call in. It is settled exactly once, at once where too many calls wait. */
  submit(call: UpstreamCall): void;
  /** Sends at the end of this turn of the event loop what can be sent. */
  flushSoon(): void;
  /** Closes a connection, frees its place and retries its calls elsewhere. */
  giveUp(connection: Connection, validator: Validator, reason: FailureReason): void;
  /** Retries the calls of a late array in halves. */
  splitUp(connection: Connection, validator: Validator): void;
  /** A validator was ejected: retries its calls elsewhere. */
  moveAll(validator: Validator, reason: FailureReason): void;
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
    validators,
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

    settleAll,

    stop() {
      settleAll();
      for (const validatorLane of validators.flatMap((validator) => validator.lanes)) {
        for (const connection of validatorLane.connections) {
          connection.failStream();
          connection.destroy();
        }
        validatorLane.connections = [];
        validatorLane.free = [];
      }
    },
  };
}

/** Makes the function that queues a new call, or says why it is refused. */
function createIntake({
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

  return function takeIn(lane: Lane, call: UpstreamCall): "unavailable" | "crowded" | undefined {
    if (!hasRoomFor(lane, call)) return "unavailable";
    if (!enterGroup(lane, call)) return "crowded";
    hedges.earn();
    const directed =
      call.target === undefined ? undefined : validators[call.target]?.lanes[lane.index]?.directed;
    if (directed !== undefined) {
      directed.push(call);
      lane.directed += 1;
    } else if (call.tried !== 0) queueAgain(call);
    else lane.fresh.push(call);
    return undefined;
  };
}
