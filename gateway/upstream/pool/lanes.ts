import { createFairQueue, type FairQueue, lightTurns, type Turns } from "./fair-queue.ts";
import { createGroupCounts, type GroupCounts } from "./group-counts.ts";
import { createLatency, type Latency } from "./latency.ts";
import type { PoolSettings } from "./pool-settings.ts";
import { laneNames, type UpstreamCall } from "./upstream-call.ts";
import type { Validator } from "./validator.ts";

/** The waiting calls of one lane, and what is known of the lane's requests. */
export type Lane = {
  readonly index: number;
  /** Longest array; 1 where each call goes alone. */
  readonly callsMax: number;
  readonly queueMax: number;
  readonly groups: GroupCounts;
  /** How its keys take turns, and which calls share an array. */
  readonly turns: Turns;
  /** New calls. */
  readonly fresh: FairQueue;
  /** Retried and hedged calls, each for a validator that has not had it. */
  again: UpstreamCall[];
  /** The last request was of retried calls. */
  wasAgain: boolean;
  /** How many calls wait in the `directed` queues of all validators. */
  directed: number;
  /** Of all validators. */
  readonly latency: Latency;
  /** When a request was last answered within half of the time after which arrays are split. */
  quickAnswerAtMs: number;
};

export const lightLane = laneNames.indexOf("light");
export const slowLane = laneNames.indexOf("slow");

export function createLanes(settings: PoolSettings): Lane[] {
  return laneNames.map((name, index) => {
    const turns = name === "light" ? lightTurns : slowTurns(settings.arrays.msMax);
    return {
      index,
      callsMax: name === "slow" ? 1 : settings.arrays[name],
      queueMax: settings.queueMax[name],
      groups: createGroupCounts({ groupMax: settings.groupMax[name] }),
      turns,
      fresh: createFairQueue(turns),
      again: [],
      wasAgain: false,
      directed: 0,
      latency: createLatency(),
      quickAnswerAtMs: Number.NEGATIVE_INFINITY,
    };
  });
}

/** How much of a validator's time a key may take in its turn; one call where its calls take longer. */
const perTurnMs = 64;
/** The cost of a call whose key was not measured yet. */
const unknownCallMs = 8;

/**
 * Calls that run the EVM, traces and wide logs cost the time that they take. So a key with slow calls gets no more of the
 * validators than one with quick calls. Its arrays are short, and its own.
 */
function slowTurns(arrayMsMax: number): Turns {
  const callMs = ({ counted }: UpstreamCall) =>
    counted === undefined || counted.callMs === 0 ? unknownCallMs : counted.callMs;
  return {
    perTurn: perTurnMs,
    costOf: (call) => Math.max(1, callMs(call)),
    isMixed: false,
    callsMaxOf: (call) => Math.max(1, Math.floor(arrayMsMax / callMs(call))),
  };
}

/** How many calls wait for a connection. */
export function waiting(lane: Lane): number {
  return lane.fresh.count() + lane.again.length + lane.directed;
}

/** Takes calls out of the queues that were settled while they waited: their time was over. */
export function dropSettled(lane: Lane, validators: readonly Validator[]): void {
  lane.fresh.dropSettled();
  lane.again = withoutSettled(lane.again);
  if (lane.directed === 0) return;
  lane.directed = 0;
  for (const { lanes } of validators) {
    const validatorLane = lanes[lane.index];
    if (validatorLane === undefined) continue;
    validatorLane.directed.dropSettled();
    lane.directed += validatorLane.directed.count();
  }
}

function withoutSettled(calls: UpstreamCall[]): UpstreamCall[] {
  return calls.some(({ settled }) => settled) ? calls.filter(({ settled }) => !settled) : calls;
}
