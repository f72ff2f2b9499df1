import { type Client, type Dispatcher, errors } from "undici";
import type { Clock } from "../drive/clock.ts";

/** Headers in lower case; one that came several times is joined as undici gives it. */
export type ReplyHeaders = Readonly<Record<string, string | string[] | undefined>>;

export type Reply =
  | { kind: "answer"; status: number; headers: ReplyHeaders; body: string }
  | { kind: "network"; code: string; message: string }
  | { kind: "timeout"; timeoutMs: number }
  /** Still unanswered when the run was ended early. */
  | { kind: "cut off" };

export type Transport = {
  /** Connections without a request. */
  free(): number;
  /** Sends over a free connection; the caller has looked whether there is one. `done` is called once. */
  send(body: string, done: (reply: Reply) => void): void;
  inFlight(): number;
  /** Ends everything. Requests in flight end as cut off. */
  close(): void;
};

type Connection = { client: Client; flight: Flight | undefined };
type Flight = { done: (reply: Reply) => void; sentAtMs: number };

const sweepEveryMs = 20;
const answerBytesMax = 64 * 1024 * 1024;

/**
 * Keep-alive connections with one request each. The one used last is used next, so that at a low rate few are in use
 * and none of them is closed by the server for idleness just when it is needed.
 */
export function createTransport({
  connect,
  path,
  headers,
  connections: connectionCount,
  timeoutMs,
  clock,
}: {
  connect: () => Client;
  path: string;
  headers: Readonly<Record<string, string>>;
  connections: number;
  timeoutMs: number;
  clock: Pick<Clock, "now" | "every">;
}): Transport {
  const connections = Array.from(
    { length: connectionCount },
    (): Connection => ({
      client: connect(),
      flight: undefined,
    }),
  );
  const idle = [...connections].reverse();
  const stopSweep = clock.every(sweepEveryMs, () => {
    const nowMs = clock.now();
    for (const connection of connections) {
      const { flight } = connection;
      if (flight !== undefined && nowMs - flight.sentAtMs >= timeoutMs) {
        replace(connection, { kind: "timeout", timeoutMs });
      }
    }
  });

  function finish(connection: Connection, flight: Flight, reply: Reply): void {
    // A connection that was given up may still report its end.
    if (connection.flight !== flight) return;
    connection.flight = undefined;
    idle.push(connection);
    flight.done(reply);
  }

  /** An answer that comes late must not meet the next request, so its connection ends with it. */
  function replace(connection: Connection, reply: Reply): void {
    const { flight, client } = connection;
    if (flight === undefined) return;
    connection.client = connect();
    void client.destroy();
    finish(connection, flight, reply);
  }

  return {
    free: () => idle.length,
    inFlight: () => connections.length - idle.length,
    send(body, done) {
      const connection = idle.pop();
      if (connection === undefined) throw new Error("send was called without a free connection");
      const flight: Flight = { done, sentAtMs: clock.now() };
      connection.flight = flight;
      const readReply = createReplyReader((reply) => finish(connection, flight, reply));
      connection.client.dispatch({ path, method: "POST", headers, body }, readReply);
    },
    close() {
      stopSweep();
      for (const connection of connections) {
        const { flight } = connection;
        if (flight !== undefined) finish(connection, flight, { kind: "cut off" });
        void connection.client.destroy();
      }
    },
  };
}

/** Collects one answer. `done` is called once. */
function createReplyReader(done: (reply: Reply) => void): Dispatcher.DispatchHandler {
  let status = 0;
  let headers: ReplyHeaders = {};
  const chunks: Buffer[] = [];
  let bytes = 0;
  return {
    // undici requires this member.
    onRequestStart() {},
    onResponseStart(_controller, statusCode, headersOfAnswer) {
      status = statusCode;
      headers = headersOfAnswer;
    },
    onResponseData(controller, chunk) {
      bytes += chunk.length;
      if (bytes > answerBytesMax)
        controller.abort(new Error(`an answer of more than ${answerBytesMax} bytes`));
      else chunks.push(chunk);
    },
    onResponseEnd() {
      const [only] = chunks;
      const text = chunks.length === 1 && only !== undefined ? only : Buffer.concat(chunks, bytes);
      done({ kind: "answer", status, headers, body: text.toString("utf8") });
    },
    onResponseError(_controller, error) {
      done(networkReply(error));
    },
  };
}

/** The system's error code if there is one (ECONNREFUSED, ENOTFOUND, a TLS code), else undici's. */
export function networkReply(error: Error): Reply & { kind: "network" } {
  const inner = error instanceof AggregateError ? error.errors[0] : (error.cause ?? error);
  const named = inner instanceof Error && "code" in inner ? inner : error;
  const code = "code" in named ? String(named.code) : named.name;
  const isCut = error instanceof errors.SocketError;
  return {
    kind: "network",
    code: isCut && code === "UND_ERR_SOCKET" ? "connection closed" : code,
    message: isCut ? `the connection ended before the answer (${error.message})` : named.message || code,
  };
}
