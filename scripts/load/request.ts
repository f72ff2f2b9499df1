import type { Expectation } from "./mix/expectation.ts";

/** One call of a request, and what its answer has to be. */
export type ExpectedCall = { method: string; id: number; expectation: Expectation };

/** One HTTP request: a single call or a batch. */
export type LoadRequest = {
  /** The row of the report that its latency belongs to: the method, or the batch's name. */
  label: string;
  /** What the load file calls the item, for thresholds and rows of its own. */
  tag?: string | undefined;
  body: string;
  calls: readonly ExpectedCall[];
  isBatch: boolean;
};

/** What a script learns of its request: the results in the order of the calls, where all were right. */
export type Outcome =
  | { ok: true; results: readonly unknown[] }
  | { ok: false; faults: readonly Fault[]; wasNotSent: boolean };

export const faultKinds = [
  /** An HTTP status that is no success. */
  "http",
  /** A JSON-RPC error object. */
  "json-rpc",
  /** No connection, or it ended before the answer did. */
  "network",
  /** Sent, and not answered in time. */
  "timeout",
  /** No JSON-RPC answer to what was asked, or a result of another type than the mix expects. */
  "wrong answer",
  /** Due, and not sent in time. */
  "not sent",
  /** Sent, and no receipt in time, or one that tells of a failure. */
  "not mined",
] as const;
export type FaultKind = (typeof faultKinds)[number];

export type Fault = {
  kind: FaultKind;
  /** Within the kind: a status, an error's number and code, a network error's code. Of a small set. */
  code: string;
  method: string;
  message: string;
  /** How many calls it concerns. */
  calls: number;
};
