import type { ReceiveRoom } from "../../answer-budget/receive-budget.ts";
import { basicAuthorization } from "../basic-authorization.ts";
import type { HttpTarget } from "../http/http-connection.ts";
import type { NamedUpstream } from "../named-upstreams.ts";
import {
  type Connection,
  type ConnectionEvents,
  createConnection,
  type FailureReason,
  type UpstreamRequest,
} from "./connection.ts";
import { createFairQueue, type FairQueue, lightTurns } from "./fair-queue.ts";
import type { Health } from "./health.ts";
import { createLatency, type Latency } from "./latency.ts";
import { laneConnections, type PoolSettings } from "./pool-settings.ts";
import { laneNames } from "./upstream-call.ts";

/** One lane of one validator. */
export type ValidatorLane = {
  /** Most connections, which is most requests at once. */
  readonly max: number;
  connections: Connection[];
  /** Connections without a request. The one that was used last is used next, so that idle ones stay idle. */
  free: Connection[];
  /** Calls for this validator only. */
  readonly directed: FairQueue;
  readonly latency: Latency;
  /** Others are many times faster, so it is passed over. */
  isSlow: boolean;
  /** The last request held calls for this validator only. */
  wasDirected: boolean;
  /** Until then its late requests are hedged without counting against the budget. */
  watchedUntilMs: number;
};

export type ValidatorStats = {
  calls: number;
  requests: number;
  hedgedCalls: number;
  /** Calls that another validator had to get, by reason. */
  failures: Record<FailureReason, number>;
  /** Requests of each lane, by their calls: up to 1, 2, 4, 8, … */
  arrayLengths: number[][];
  longestArray: number;
};

/** One validator as the pool sees it. */
export type Validator = {
  readonly index: number;
  readonly bit: number;
  /** Its name, the same in the configuration, metrics, logs, `/status` and the command line. */
  readonly label: string;
  /** Without credentials. */
  readonly url: string;
  /** How many reads it gets beside the others; 0: none while another one is in order. */
  weight: number;
  /** It seals no blocks: reads go there, transactions do not. */
  readonly isReplica: boolean;
  readonly lanes: readonly ValidatorLane[];
  readonly health: Health;
  /** Room for its answers while they come in. */
  readonly room: ReceiveRoom;
  /** Where its requests go, credentials included. */
  readonly target: HttpTarget;
  readonly stats: ValidatorStats;
  /** When an answer was last complete, or a byte of a slow answer came. */
  progressAtMs: number;
  /** Since when the sweep finds it behind the head or not of our chain. */
  behindSinceMs: number | undefined;
  /** When the sweep first saw it in use. */
  firstInAtMs: number | undefined;
  /** When the sweep last saw it ejected or not of our chain, after it had been in use. */
  wasOutAtMs: number;
  /** Requests in flight that were sent while it was half-open. */
  halfOpenRequests: number;
  /**
   * `draining`: it is not configured any more, gets no new calls and answers those that it has. `gone`: it has none, and its
   * place may be given to another one.
   */
  stay: "configured" | "draining" | "gone";
};

export const lengthBuckets = [1, 2, 4, 8, 16, 32, 64, Number.POSITIVE_INFINITY] as const;

export function createValidator({
  upstream: { name, url, weight = 1, role = "validator" },
  index,
  settings,
  health,
  room,
}: {
  upstream: NamedUpstream;
  index: number;
  settings: PoolSettings;
  health: Health;
  room: ReceiveRoom;
}): Validator {
  const max = laneConnections(settings);
  return {
    index,
    bit: 1 << index,
    label: name,
    url: withoutCredentials(url),
    weight,
    isReplica: role === "replica",
    target: targetOf(url, settings),
    health,
    room,
    lanes: laneNames.map((lane) => ({
      max: max[lane],
      connections: [],
      free: [],
      directed: createFairQueue(lightTurns),
      latency: createLatency(),
      isSlow: false,
      wasDirected: false,
      watchedUntilMs: Number.NEGATIVE_INFINITY,
    })),
    stats: {
      calls: 0,
      requests: 0,
      hedgedCalls: 0,
      failures: { ...zeroFailures },
      arrayLengths: laneNames.map(() => lengthBuckets.map(() => 0)),
      longestArray: 0,
    },
    progressAtMs: Number.NEGATIVE_INFINITY,
    behindSinceMs: undefined,
    firstInAtMs: undefined,
    wasOutAtMs: Number.NEGATIVE_INFINITY,
    halfOpenRequests: 0,
    stay: "configured",
  };
}

const zeroFailures: Record<FailureReason, number> = {
  connect: 0,
  closed: 0,
  timeout: 0,
  hung: 0,
  late: 0,
  status: 0,
  bad_answer: 0,
  missing: 0,
  array_refused: 0,
  too_large: 0,
  no_room: 0,
  unwanted: 0,
  behind: 0,
  internal_error: 0,
};

/** Requests in flight, abandoned ones too. */
export function inFlight(lane: ValidatorLane): number {
  return lane.connections.length - lane.free.length;
}

export function hasRoom(validator: Validator, lane: ValidatorLane): boolean {
  if (validator.health.state() === "half-open" && validator.halfOpenRequests > 0) return false;
  return lane.free.length > 0 || lane.connections.length < lane.max;
}

/** How many requests could be sent at once. */
export function places(lane: ValidatorLane): number {
  return lane.free.length + lane.max - lane.connections.length;
}

/** A free connection, new where none is left. The caller makes sure that there is room. */
export function takeConnection(lane: ValidatorLane, open: () => Connection): Connection {
  const free = lane.free.pop();
  if (free !== undefined) return free;
  const opened = open();
  lane.connections.push(opened);
  return opened;
}

/** Ends a connection and frees its place. */
export function dropConnection(lane: ValidatorLane, connection: Connection): void {
  connection.destroy();
  lane.connections = lane.connections.filter((other) => other !== connection);
  lane.free = lane.free.filter((other) => other !== connection);
}

export function countRequest(stats: ValidatorStats, { lane, calls }: UpstreamRequest): void {
  stats.calls += calls.length;
  stats.requests += 1;
  if (calls.length > stats.longestArray) stats.longestArray = calls.length;
  const counts = stats.arrayLengths[lane];
  const bucket = lengthBuckets.findIndex((longest) => calls.length <= longest);
  if (counts !== undefined) counts[bucket] = (counts[bucket] ?? 0) + 1;
}

/** Where requests to a validator go. User and password of its address become a header. */
export function targetOf(url: string, settings: Pick<PoolSettings, "connectTimeoutMs">): HttpTarget {
  const { origin, pathname, search } = new URL(url);
  const headers = ["content-type", "application/json"];
  const authorization = basicAuthorization(url);
  if (authorization !== undefined) headers.push("authorization", authorization);
  return { origin, path: pathname + search, headers, connectTimeoutMs: settings.connectTimeoutMs };
}

export function openConnection({
  validator: { target, room },
  settings,
  now,
  events,
}: {
  validator: Pick<Validator, "target" | "room">;
  settings: Pick<PoolSettings, "answerBytesMax" | "streamFromBytes">;
  now: () => number;
  events: ConnectionEvents;
}): Connection {
  const { answerBytesMax, streamFromBytes } = settings;
  return createConnection({ target, answerBytesMax, streamFromBytes, room, now, events });
}

function withoutCredentials(url: string): string {
  const parsed = new URL(url);
  parsed.username = "";
  parsed.password = "";
  parsed.search = "";
  return parsed.href.replace(/\/$/, "");
}
