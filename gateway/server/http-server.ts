import { setTimeout as wait } from "node:timers/promises";
import type { Logger } from "pino";
import type { ClientAddress } from "../../lib/http-service/client-address.ts";
import type { ReaderWatch } from "../answer-budget/reader-watch.ts";
import type { BodyBudget } from "./body-budget.ts";
import type { Certificate, TlsFiles } from "./certificate.ts";
import { createChunkedRequest } from "./chunked-request.ts";
import type { ConnectionSlots } from "./connection-slots.ts";
import type { Exchange, Reply, RequestHead, StreamedBody } from "./exchange.ts";
import { type Arrival, createHttpConnections, type HttpConnection } from "./http-connections.ts";
import { readHead } from "./read-head.ts";
import { receivePieces, receiveWhole } from "./receive-body.ts";
import { createSecureApp, type Serve } from "./secure-app.ts";
import {
  App,
  exclusivePort,
  type HttpRequest,
  type HttpResponse,
  type us_listen_socket,
  us_listen_socket_close,
  us_socket_local_port,
} from "./uws.ts";
import { webSocketRoute } from "./web-socket-route.ts";
import type { Sockets, Upgrade } from "./websocket/sockets.ts";
import type { WebSocketSettings } from "./websocket/web-socket-settings.ts";
import { isStream, lingerMs, writeReply, writeStream } from "./write-reply.ts";

export type HttpServer = {
  host: string;
  port: number;
  /** Undefined without TLS. */
  certificate(): Certificate | undefined;
  /** Stops listening, lets answers on their way go out, and closes what is left after `timeoutMs`. */
  stop(options: { timeoutMs: number }): Promise<void>;
};

/**
 * HTTP over uWebSockets.js, with `tls` over TLS. `handle` gets each request and gives its answer once; it must not throw.
 *
 * The port is taken exclusively: the library's default (SO_REUSEPORT) would let a second gateway share it in silence.
 * The library closes connections whose head stalls for 10 s or whose body comes in at less than 16 KB a second.
 *
 * @throws Error where the port is taken; CertificateError where `tls` names files that cannot be used.
 */
export async function startHttpServer({
  host,
  port,
  tls,
  handle,
  refuseBodiless,
  upgrade,
  sockets,
  webSocketSettings,
  limits,
  slots,
  budget,
  clientAddress,
  droppedBytesMax,
  lateReply,
  giveUp,
  readers,
  logger,
}: {
  host: string;
  port: number;
  tls: TlsFiles | undefined;
  handle: (exchange: Exchange, answer: (reply: Reply) => void) => void;
  /** The reply to a request whose body comes in chunks, none of them with its head. */
  refuseBodiless: (head: RequestHead) => Reply;
  upgrade: Upgrade;
  sockets: Pick<Sockets, "stop" | "count">;
  webSocketSettings: WebSocketSettings;
  limits: { bodyTimeoutMs: number; chunkedStallMs: number };
  slots: ConnectionSlots;
  budget: BodyBudget;
  clientAddress: ClientAddress;
  /** How much of an unwanted body is read before its connection is closed. */
  droppedBytesMax: number;
  /** The reply to a request that is not answered when the time for stopping is over. */
  lateReply: (head: RequestHead) => Reply;
  /** Ends what requests wait for, so that they are answered at once. */
  giveUp: () => void;
  readers: Pick<ReaderWatch, "watch">;
  logger: Logger;
}): Promise<HttpServer> {
  const connections = createHttpConnections({ slots });
  let inFlight = 0;
  let openCount = 0;
  let stopping = false;
  let onChange = () => {};
  let lingersUntilMs = 0;
  const linger = () => {
    lingersUntilMs = performance.now() + lingerMs;
  };

  const countConnection = (opened: number) => {
    openCount += opened;
    onChange();
  };
  const serve: Serve = (app, countOfApp) => {
    const count = (opened: number) => {
      countConnection(opened);
      countOfApp?.(opened);
    };
    const follow = (res: HttpResponse, opened: number) => {
      count(opened);
      if (opened > 0) connections.opened(res);
    };
    // The library's filter tells of each connection, but not of the end of one that became a WebSocket.
    const route = webSocketRoute({
      upgrade,
      refuse: refuseBodiless,
      settings: webSocketSettings,
      arrived: connections.arrived,
      readers,
      onClosed: () => count(-1),
    });
    return app
      .filter(follow)
      .ws("/*", route)
      .any("/*", (res: HttpResponse, req: HttpRequest) => {
        connections.arrived({ res, head: readHead(req), begin: beginRequest, refuse: refuseBodiless });
      });
  };
  const secure = tls === undefined ? undefined : createSecureApp({ files: tls, serve, logger });
  const app = secure?.acceptor ?? serve(App());

  function beginRequest(
    { res, head }: Arrival,
    connection: HttpConnection,
    chunk: ArrayBuffer,
    isLast: boolean,
  ): void {
    inFlight += 1;
    let isGone = false;
    let isAnswered = false;
    let isFinished = false;
    const received = { head, connection, budget, clientAddress };
    const isChunked = head.transferEncodings !== undefined;
    const chunked = isChunked ? readChunks(res, connection) : undefined;
    connection.isLast = isChunked;
    const body =
      chunked === undefined && isLast
        ? receiveWhole(received, chunk)
        : receivePieces(received, {
            first: chunked === undefined ? chunk : undefined,
            chunked,
            droppedBytesMax,
          });
    let stream: StreamedBody | undefined;
    let unwatch: (() => void) | undefined;
    let release: (() => void) | undefined;
    const finish = () => {
      if (isFinished) return;
      isFinished = true;
      unwatch?.();
      release?.();
      inFlight -= 1;
      if (!isGone) connection.answered();
      onChange();
    };
    /** `gone`: the client has left; `late`: there is no answer yet, and the time for stopping is over. */
    const respond = (told: Reply | "gone" | "late") => {
      if (told === "gone") {
        isGone = true;
        body.abort();
        chunked?.abort();
        stream?.abort();
        // An answer is in flight until its last byte is with the kernel, or the client has left.
        if (isAnswered) finish();
        return;
      }
      const reply = told === "late" ? lateReply(head) : told;
      if (isAnswered || isGone) {
        if (isStream(reply.body)) reply.body.abort();
        reply.release?.();
        if (isGone) finish();
        return;
      }
      isAnswered = true;
      release = reply.release;
      if (isStream(reply.body)) stream = reply.body;
      const close = stopping || reply.close === true || chunked !== undefined;
      connection.isLast = close || stream !== undefined;
      const isEarly = body.leave({ closeAtEnd: !close });
      // Answered while it reads, the library would take what follows in the same piece for a next request, close or not.
      if (chunked !== undefined) chunked.whenOver(() => write(reply, { close, isEarly }));
      else if (close && stream === undefined) setImmediate(() => write(reply, { close, isEarly }));
      else write(reply, { close, isEarly });
    };
    function write(reply: Reply, { close, isEarly }: { close: boolean; isEarly: boolean }): void {
      if (isGone) return;
      if (isStream(reply.body)) {
        writeStream({ res, reply, body: reply.body, isGone: () => isGone, finish, linger });
        return;
      }
      writeReply({
        res,
        // What still comes of the body is taken in and dropped first: closed at once, the client could miss the answer.
        reply: isEarly && !close ? { ...reply, headers: { ...reply.headers, Connection: "close" } } : reply,
        body: reply.body,
        close,
        isHead: head.method === "HEAD",
        watch(reading) {
          unwatch = readers.watch(reading);
        },
        finish,
      });
    }
    connection.request = respond;
    handle(body, respond);
    body.handled();
    chunked?.begin(chunk, isLast);
  }

  /** A body in chunks, which gets its pieces from the connection. */
  function readChunks(res: HttpResponse, connection: HttpConnection) {
    let hear: (chunk: ArrayBuffer, isLast: boolean) => void = () => {};
    const onData = (listener: typeof hear) => {
      hear = listener;
    };
    connection.onRest = (chunk, isLast) => hear(chunk, isLast);
    const chunked = createChunkedRequest({
      res: { onData, pause: () => res.pause() },
      stallMs: limits.chunkedStallMs,
      heldMs: limits.bodyTimeoutMs,
    });
    return { ...chunked, begin: (chunk: ArrayBuffer, isLast: boolean) => hear(chunk, isLast) };
  }

  const socket = await new Promise<us_listen_socket | false>((listening) => {
    app.listen(host, port, exclusivePort, listening);
  });
  if (socket === false) {
    (secure ?? app).close();
    throw new Error(`${host}:${port} cannot be listened on: the port is taken`);
  }

  return {
    host,
    port: us_socket_local_port(socket),
    certificate: () => secure?.certificate(),
    async stop({ timeoutMs }) {
      stopping = true;
      us_listen_socket_close(socket);
      // What the library still holds of an answer that was streamed is out when its connection has closed.
      const isDone = () => inFlight === 0 && (openCount === 0 || performance.now() > lingersUntilMs);
      const untilDone = (waitMs: number) =>
        new Promise<void>((resolve) => {
          const timer = setTimeout(resolve, waitMs);
          onChange = () => {
            if (!isDone()) return;
            clearTimeout(timer);
            resolve();
          };
          onChange();
        });
      const lastWordsMs = Math.min(lastWordsMsMax, timeoutMs / 4);
      const socketsStopped = sockets.stop({ timeoutMs });
      const patienceMs = timeoutMs - lastWordsMs;
      await Promise.race([
        Promise.all([untilDone(patienceMs), socketsStopped]),
        wait(patienceMs, undefined, { ref: false }),
      ]);
      if (!isDone() || sockets.count() > 0) {
        giveUp();
        // What was waited for answers in turns of its own.
        await wait(lastWordsMs / 2);
        for (const { request } of connections.all()) request?.("late");
        await untilDone(lastWordsMs / 2);
      }
      await socketsStopped;
      (secure ?? app).close();
    },
  };
}

/** The part of the time for stopping in which requests that still wait are refused. */
const lastWordsMsMax = 300;
