import type { RpcBody } from "./besu-framing.ts";

export type CallCounters = {
  /** HTTP requests with a JSON-RPC body, and the calls in them. */
  requests: number;
  items: number;
  singles: number;
  arrays: number;
  /** How many arrays had each length, and the longest. */
  arrayLengths: Map<number, number>;
  arrayLengthMax: number;
  /** Calls by method, over HTTP and WebSocket. */
  methods: Map<string, number>;
  /** The latest HTTP bodies, oldest first. */
  bodies: string[];
  /** HTTP requests under way (their body arrived, their answer did not leave), and the most at once. */
  inFlight: number;
  inFlightMax: number;
  /** Open HTTP connections, and the most at once. */
  connections: number;
  connectionsMax: number;
  webSockets: number;
  webSocketMessages: number;
};

const bodiesKept = 500;

/** What one validator was asked. It counts when the body is there, whatever fault then befalls the answer. */
export function createCallCounters(): CallCounters {
  return {
    requests: 0,
    items: 0,
    singles: 0,
    arrays: 0,
    arrayLengthMax: 0,
    inFlight: 0,
    inFlightMax: 0,
    connections: 0,
    connectionsMax: 0,
    webSockets: 0,
    webSocketMessages: 0,
    arrayLengths: new Map(),
    methods: new Map(),
    bodies: [],
  };
}

export function countRequest(counters: CallCounters, bodyText: string, body: RpcBody): void {
  counters.requests += 1;
  counters.bodies.push(bodyText);
  if (counters.bodies.length > bodiesKept) counters.bodies.shift();
  if (body.kind === "single") counters.singles += 1;
  if (body.kind === "array") {
    const { length } = body.items;
    counters.arrays += 1;
    counters.arrayLengths.set(length, (counters.arrayLengths.get(length) ?? 0) + 1);
    counters.arrayLengthMax = Math.max(counters.arrayLengthMax, length);
  }
  counters.items += countMethods(counters, body);
}

/** Counts the calls of a body by method and tells how many there were. */
export function countMethods(counters: CallCounters, body: RpcBody): number {
  if (body.kind === "refused") return 0;
  const items = body.kind === "array" ? body.items : [body.item];
  for (const item of items) {
    if ("call" in item)
      counters.methods.set(item.call.method, (counters.methods.get(item.call.method) ?? 0) + 1);
  }
  return items.length;
}
