import type { Logger } from "pino";
import type { Upgrade } from "../upgrade-pipeline.ts";
import type { Sockets } from "../websocket/sockets.ts";
import type { WebSocketSettings } from "../websocket/web-socket-settings.ts";
import type { Certificate, TlsFiles } from "./certificate.ts";
import { collectBody } from "./collect-body.ts";
import type { Exchange, Reply } from "./exchange.ts";
import { readHead } from "./read-head.ts";
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
  upgrade,
  sockets,
  webSocketSettings,
  logger,
}: {
  host: string;
  port: number;
  tls: TlsFiles | undefined;
  handle: (exchange: Exchange, answer: (reply: Reply) => void) => void;
  upgrade: Upgrade;
  sockets: Pick<Sockets, "stop">;
  webSocketSettings: WebSocketSettings;
  logger: Logger;
}): Promise<HttpServer> {
  let inFlight = 0;
  let connections = 0;
  let stopping = false;
  let onChange = () => {};
  let lingersUntilMs = 0;
  const linger = () => {
    lingersUntilMs = performance.now() + lingerMs;
  };

  const countConnection = (opened: number) => {
    connections += opened;
    onChange();
  };
  const serve: Serve = (app, countOfApp) => {
    const count = (opened: number) => {
      countConnection(opened);
      countOfApp?.(opened);
    };
    // The library's filter tells of each connection, but not of the end of one that became a WebSocket.
    const route = webSocketRoute({ upgrade, settings: webSocketSettings, onClosed: () => count(-1) });
    return app
      .filter((_res: HttpResponse, opened: number) => count(opened))
      .ws("/*", route)
      .any("/*", answerRequest);
  };
  const secure = tls === undefined ? undefined : createSecureApp({ files: tls, serve, logger });
  const app = secure?.acceptor ?? serve(App());

  function answerRequest(res: HttpResponse, req: HttpRequest): void {
    let aborted = false;
    let onAbort = () => {};
    inFlight += 1;
    let finished = false;
    const finish = () => {
      if (finished) return;
      finished = true;
      inFlight -= 1;
      onChange();
    };
    res.onAborted(() => {
      aborted = true;
      onAbort();
    });
    const head = readHead(req);
    const exchange: Exchange = {
      head,
      readBody: ({ bodyBytesMax, bodyTimeoutMs }, done) =>
        collectBody({
          res,
          bodyBytesMax,
          bodyTimeoutMs,
          onAbort: (listener) => {
            onAbort = listener;
          },
          done,
        }),
      peerAddress: () => (aborted ? "" : Buffer.from(res.getRemoteAddressAsText()).toString()),
    };
    handle(exchange, (reply) => {
      if (aborted) {
        if (isStream(reply.body)) reply.body.abort();
        finish();
        return;
      }
      // An answer counts as on its way until its last byte is handed to the kernel, or nobody wants it any more.
      const { body } = reply;
      onAbort = () => {
        if (isStream(body)) body.abort();
        finish();
      };
      const close = stopping || reply.close === true;
      if (isStream(body)) {
        writeStream({ res, reply, body, isGone: () => aborted, finish, linger });
      } else {
        writeReply({
          res,
          reply,
          body,
          close,
          isHead: head.method === "HEAD",
          finish,
        });
      }
    });
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
      const isDone = () => inFlight === 0 && (connections === 0 || performance.now() > lingersUntilMs);
      const socketsStopped = sockets.stop({ timeoutMs });
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, timeoutMs);
        onChange = () => {
          if (!isDone()) return;
          clearTimeout(timer);
          resolve();
        };
        onChange();
      });
      await socketsStopped;
      (secure ?? app).close();
    },
  };
}
