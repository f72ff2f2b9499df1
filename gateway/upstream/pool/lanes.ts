import { type Ask, laneNames } from "./ask.ts";
import { createGroupCounts, type GroupCounts } from "./group-counts.ts";
import { createLatency, type Latency } from "./latency.ts";
import type { Member } from "./member.ts";
import type { PoolSettings } from "./pool-settings.ts";

/** Calls of one lane that wait for a connection. */
export type Lane = {
  readonly index: number;
  /** Calls in one array; 1 where each goes alone. */
  readonly callsMax: number;
  readonly queueMax: number;
  readonly groups: GroupCounts;
  /** Not yet asked of anybody: any of them may share an array. */
  fresh: Ask[];
  /** Asked before, in vain or too slowly: each for a validator that it was not yet asked of. */
  again: Ask[];
  /** How many stand in all members' `directed`. */
  directed: number;
  /** Of all validators. */
  readonly latency: Latency;
};

export const slowLane = laneNames.indexOf("slow");

export function createLanes(settings: PoolSettings): Lane[] {
  return laneNames.map((name, index) => ({
    index,
    callsMax: name === "slow" ? 1 : settings.arrays[name],
    queueMax: settings.queueMax[name],
    groups: createGroupCounts({ groupMax: settings.groupMax[name] }),
    fresh: [],
    again: [],
    directed: 0,
    latency: createLatency(),
  }));
}

/** Calls that no connection was free for yet. */
export function waiting(lane: Lane): number {
  return lane.fresh.length + lane.again.length + lane.directed;
}

/** Takes out of the queues what was answered while it waited: its time was over, or its client gone. */
export function dropSettled(lane: Lane, members: readonly Member[]): void {
  lane.fresh = withoutSettled(lane.fresh);
  lane.again = withoutSettled(lane.again);
  if (lane.directed === 0) return;
  lane.directed = 0;
  for (const { lanes } of members) {
    const memberLane = lanes[lane.index];
    if (memberLane === undefined) continue;
    memberLane.directed = withoutSettled(memberLane.directed);
    lane.directed += memberLane.directed.length;
  }
}

function withoutSettled(asks: Ask[]): Ask[] {
  return asks.some(({ settled }) => settled) ? asks.filter(({ settled }) => !settled) : asks;
}
