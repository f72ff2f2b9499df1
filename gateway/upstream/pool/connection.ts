import type { ReceiveRoom } from "../../answer-budget/receive-budget.ts";
import { createHttpConnection, type HttpFailure, type HttpTarget } from "../http/http-connection.ts";
import type { StreamedAnswer } from "../upstream-result.ts";
import { createReceivedBody } from "./received-body.ts";
import { createStreamRelay, cutFirstBytes, type StreamRelay } from "./stream-relay.ts";
import type { UpstreamCall } from "./upstream-call.ts";

/** One HTTP request on its way, with its calls. */
export type UpstreamRequest = {
  readonly validatorIndex: number;
  readonly lane: number;
  readonly calls: readonly UpstreamCall[];
  /** Monotonic, like `endsAtMs`, when its connection is given up. */
  readonly sentAtMs: number;
  readonly endsAtMs: number;
  /** The first to a validator that was ejected. */
  readonly isHalfOpen: boolean;
  /** The validator had the announced block when this was sent. */
  readonly isAtHead: boolean;
  /** Bytes of it have left, so a validator may have carried it out. */
  hasLeft: boolean;
  isHedged: boolean;
  isMoved: boolean;
  /** Its calls are retried elsewhere. It still counts, because the validator goes on with it. */
  isAbandoned: boolean;
};

/** A closed list, because it labels metrics. */
export const failureReasons = [
  /** No connection could be made. */
  "connect",
  /** The connection ended before the answer did. */
  "closed",
  /** Not answered within the method's time. */
  "timeout",
  /** Neither a byte came nor the answer to a ping. */
  "hung",
  /** Other validators answer such calls many times faster. */
  "late",
  /** An HTTP status without an answer. */
  "status",
  /** The body does not answer the request. */
  "bad_answer",
  /** An answer of an array is missing, or there twice. */
  "missing",
  /** An array came back as one error object. */
  "array_refused",
  "too_large",
  /** Answers that come in from validators hold as many bytes as they may. */
  "no_room",
  /** A long answer for which nobody waits any more. */
  "unwanted",
  /** `null` or an unknown block, where the block must exist. */
  "behind",
  /** -32603: the validator's own fault, for instance while it imports a block. */
  "internal_error",
] as const;
export type FailureReason = (typeof failureReasons)[number];

export type ConnectionEvents = {
  bytesCame(request: UpstreamRequest): void;
  answered(connection: Connection, request: UpstreamRequest, answer: { status: number; body: Buffer }): void;
  failed(connection: Connection, request: UpstreamRequest, reason: FailureReason): void;
  /** The answer is long and goes on as a stream. `streamEnded` or `failed` follows. */
  streamBegan(request: UpstreamRequest, answer: StreamedAnswer): void;
  streamEnded(connection: Connection, request: UpstreamRequest): void;
};

export type Connection = {
  /** The request in flight. A field and not a collection, so that the collector finds short-lived objects quickly. */
  request: UpstreamRequest | undefined;
  /** One character of `body` a byte. */
  send(request: UpstreamRequest, body: string): void;
  /** Closes it for good, and reports nothing any more. */
  destroy(): void;
  /** How long its stream has stood still; undefined where it has none. */
  streamStalledMs(nowMs: number): number | undefined;
  failStream(): void;
};

export type ConnectionOptions = {
  target: HttpTarget;
  answerBytesMax: number;
  streamFromBytes: number;
  room: ReceiveRoom;
  now: () => number;
  events: ConnectionEvents;
};

/** One keep-alive connection with one request in flight. It has no timers: the sweep keeps the time. */
export function createConnection(options: ConnectionOptions): Connection {
  const { target, answerBytesMax, streamFromBytes, room, now, events } = options;
  let status = 0;
  const received = createReceivedBody(room);
  let relay: StreamRelay | undefined;
  /** The answer was found to be long, and it is decided what to do about that. */
  let wasLooked = false;

  const connection: Connection = {
    request: undefined,
    send(request, body) {
      connection.request = request;
      http.post(body);
    },
    destroy() {
      release();
      http.drop();
    },
    streamStalledMs: (nowMs) => relay?.stalledMs(nowMs),
    failStream() {
      relay?.fail();
    },
  };

  /** Makes it ready for the next request. Returns the one that was in flight. */
  function release(): UpstreamRequest | undefined {
    const { request } = connection;
    connection.request = undefined;
    received.clear();
    relay = undefined;
    wasLooked = false;
    return request;
  }

  /** A long answer is streamed where the client can take a stream, dropped where nobody waits, refused beyond the limit. */
  function checkLength(request: UpstreamRequest): void {
    const [call] = request.calls;
    if (call !== undefined && request.calls.length === 1 && !wasLooked && status === 200) {
      wasLooked = true;
      if (call.settled) giveUp("unwanted");
      else if (call.mayStream) beginStream(request);
    }
    if (relay !== undefined || connection.request !== request) return;
    if (received.bytes() > answerBytesMax) giveUp("too_large");
    else if (!received.hold()) giveUp("no_room");
  }

  function beginStream(request: UpstreamRequest): void {
    const cut = cutFirstBytes(received.whole());
    if (cut === undefined) return;
    received.drop();
    relay = createStreamRelay({ ...cut, flow: http, now, onAbort: () => giveUp("unwanted") });
    events.streamBegan(request, relay.answer);
  }

  function giveUp(reason: FailureReason): void {
    const request = release();
    http.drop();
    if (request !== undefined) events.failed(connection, request, reason);
  }

  const http = createHttpConnection({
    target,
    now,
    events: {
      onSent() {
        if (connection.request !== undefined) connection.request.hasLeft = true;
      },
      onHead(answered) {
        status = answered;
      },
      onBody(chunk, isLast) {
        const { request } = connection;
        if (request === undefined) return;
        events.bytesCame(request);
        if (relay !== undefined) {
          relay.push(chunk);
          return;
        }
        if (received.add(chunk, isLast) > streamFromBytes) checkLength(request);
      },
      onEnd() {
        const ended = relay;
        const body = ended === undefined ? received.whole() : undefined;
        const request = release();
        ended?.end();
        if (request === undefined) return;
        if (body === undefined) events.streamEnded(connection, request);
        else events.answered(connection, request, { status, body });
      },
      onFailure(failure) {
        const broken = relay;
        const request = release();
        broken?.break();
        if (request !== undefined) events.failed(connection, request, reasonOf(failure));
      },
    },
  });
  return connection;
}

function reasonOf(failure: HttpFailure): FailureReason {
  return failure === "malformed" ? "bad_answer" : failure;
}
