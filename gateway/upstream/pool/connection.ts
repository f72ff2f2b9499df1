import { Client, type Dispatcher } from "undici";
import type { Ask } from "./ask.ts";
import type { StreamedAnswer } from "./pool-answer.ts";
import { createStreamRelay, cutFirstBytes, type StreamRelay } from "./stream-relay.ts";

/** One HTTP request on its way. */
export type Flight = {
  readonly validator: number;
  readonly lane: number;
  readonly asks: readonly Ask[];
  /** Monotonic, as `endsAtMs`: when its connection is given up. */
  readonly sentAtMs: number;
  readonly endsAtMs: number;
  /** The first through a validator that was taken out. */
  readonly isTrial: boolean;
  /** The validator had the announced block when this was sent. */
  readonly isAtHead: boolean;
  /** Bytes of it have left: a validator may have carried it out. */
  hasLeft: boolean;
  isHedged: boolean;
  isMoved: boolean;
  /** Its calls are asked elsewhere. It still counts, because the validator goes on with it. */
  isAbandoned: boolean;
};

/** A closed list, since it labels metrics. */
export const failureReasons = [
  /** No connection could be made. */
  "connect",
  /** The connection ended before the answer did. */
  "closed",
  /** Not answered within the method's time. */
  "timeout",
  /** No byte came, and no answer to a ping. */
  "hung",
  /** Others answer such calls many times faster. */
  "late",
  /** An HTTP status that is no answer. */
  "status",
  /** Bytes that are no answers to what was asked. */
  "bad_answer",
  /** One answer of an array is not there, or there twice. */
  "missing",
  /** An array came back as one error object. */
  "array_refused",
  "too_large",
  /** A long answer whose client has left. */
  "unwanted",
  /** `null` or an unknown block, where the block must exist. */
  "behind",
] as const;
export type FailureReason = (typeof failureReasons)[number];

export type ConnectionEvents = {
  bytesCame(flight: Flight): void;
  answered(connection: Connection, flight: Flight, answer: { status: number; body: Buffer }): void;
  failed(connection: Connection, flight: Flight, reason: FailureReason): void;
  /** The answer is long: from now on it is the stream's. `streamEnded` or `failed` follows. */
  streamBegan(flight: Flight, answer: StreamedAnswer): void;
  streamEnded(connection: Connection, flight: Flight): void;
};

export type Connection = {
  /** What is in flight, or nothing. A field and no collection: what lives short must not hang on what lives long. */
  flight: Flight | undefined;
  send(flight: Flight, body: Buffer): void;
  /** Closes it for good. Nothing is reported any more. */
  destroy(): void;
  /** How long its stream has stood still; undefined where it has none. */
  streamStalledMs(nowMs: number): number | undefined;
  failStream(): void;
};

export type ConnectionTarget = {
  origin: string;
  path: string;
  headers: string[];
  connectTimeoutMs: number;
};

// Idle connections are kept; a validator that closes them earlier says so in its headers.
const keepAliveMs = 60_000;

/** One keep-alive connection with one request in flight. Time is kept by whoever sweeps over it, never by timers of its own. */
export function createConnection({
  target,
  answerBytesMax,
  streamFromBytes,
  now,
  events,
}: {
  target: ConnectionTarget;
  answerBytesMax: number;
  streamFromBytes: number;
  now: () => number;
  events: ConnectionEvents;
}): Connection {
  const client = new Client(target.origin, {
    pipelining: 1,
    connectTimeout: target.connectTimeoutMs,
    keepAliveTimeout: keepAliveMs,
    headersTimeout: 0,
    bodyTimeout: 0,
    allowH2: false,
  });
  let status = 0;
  let first: Buffer | undefined;
  let more: Buffer[] | undefined;
  let bytes = 0;
  let relay: StreamRelay | undefined;
  /** Whether the answer was found to be long, and what to do about it decided. */
  let wasLooked = false;

  const connection: Connection = {
    flight: undefined,
    send(flight, body) {
      connection.flight = flight;
      client.dispatch({ path: target.path, method: "POST", headers: target.headers, body }, handler);
    },
    destroy() {
      release();
      void client.destroy();
    },
    streamStalledMs: (nowMs) => relay?.stalledMs(nowMs),
    failStream() {
      relay?.fail();
    },
  };

  /** Ready for the next request; gives what was in flight. */
  function release(): Flight | undefined {
    const { flight } = connection;
    connection.flight = undefined;
    first = undefined;
    more = undefined;
    relay = undefined;
    bytes = 0;
    wasLooked = false;
    return flight;
  }

  function collected(): Buffer {
    if (first === undefined) return Buffer.alloc(0);
    return more === undefined ? first : Buffer.concat([first, ...more], bytes);
  }

  function collect(chunk: Buffer): void {
    bytes += chunk.length;
    if (first === undefined) first = chunk;
    else if (more === undefined) more = [chunk];
    else more.push(chunk);
  }

  /** An answer that grew long: streamed to who can take it, dropped where nobody waits, refused beyond the limit. */
  function checkLength(flight: Flight, controller: Dispatcher.DispatchController): void {
    const [ask] = flight.asks;
    if (ask !== undefined && flight.asks.length === 1 && !wasLooked && status === 200) {
      wasLooked = true;
      if (ask.settled) giveUp(controller, "unwanted");
      else if (ask.mayStream) beginStream(flight, controller);
    }
    if (relay === undefined && bytes > answerBytesMax) giveUp(controller, "too_large");
  }

  function beginStream(flight: Flight, controller: Dispatcher.DispatchController): void {
    const cut = cutFirstBytes(collected());
    if (cut === undefined) return;
    first = undefined;
    more = undefined;
    relay = createStreamRelay({ ...cut, controller, now, onAbort: () => giveUp(controller, "unwanted") });
    events.streamBegan(flight, relay.answer);
  }

  function giveUp(controller: Dispatcher.DispatchController, reason: FailureReason): void {
    const flight = release();
    controller.abort(new Error(reason));
    if (flight !== undefined) events.failed(connection, flight, reason);
  }

  const handler: Dispatcher.DispatchHandler = {
    onRequestStart() {
      if (connection.flight !== undefined) connection.flight.hasLeft = true;
    },
    onResponseStart(_controller, statusCode) {
      status = statusCode;
    },
    onResponseData(controller, chunk) {
      const { flight } = connection;
      if (flight === undefined) return;
      events.bytesCame(flight);
      if (relay !== undefined) {
        relay.push(chunk);
        return;
      }
      collect(chunk);
      if (bytes > streamFromBytes) checkLength(flight, controller);
    },
    onResponseEnd() {
      if (relay !== undefined) {
        const ended = relay;
        const flight = release();
        ended.end();
        if (flight !== undefined) events.streamEnded(connection, flight);
        return;
      }
      const body = collected();
      const flight = release();
      if (flight !== undefined) events.answered(connection, flight, { status, body });
    },
    onResponseError(_controller, error) {
      const broken = relay;
      const flight = release();
      broken?.fail();
      if (flight === undefined) return;
      events.failed(connection, flight, flight.hasLeft ? "closed" : connectReason(error));
    },
  };
  return connection;
}

/** A connection that ended between two requests may be found out only when the next one is about to leave. */
function connectReason(error: Error): FailureReason {
  const code = "code" in error ? error.code : undefined;
  return code === "UND_ERR_SOCKET" ? "closed" : "connect";
}
