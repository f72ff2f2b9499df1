import { setTimeout as wait } from "node:timers/promises";
import type { Logger } from "pino";
import { beginRequest, type RequestSettings } from "./begin-request.ts";
import type { Certificate, TlsFiles } from "./certificate.ts";
import type { ConnectionSlots } from "./connection-slots.ts";
import { createDrain, type Drain } from "./drain.ts";
import type { Reply, RequestHead } from "./exchange.ts";
import { type Arrival, createHttpConnections, type HttpConnections } from "./http-connections.ts";
import { readHead } from "./read-head.ts";
import { createSecureApp, type Serve } from "./secure-app.ts";
import {
  App,
  exclusivePort,
  type HttpRequest,
  type HttpResponse,
  sharedPort,
  type us_listen_socket,
  us_listen_socket_close,
  us_socket_local_port,
} from "./uws.ts";
import { webSocketRoute } from "./web-socket-route.ts";
import type { Sockets, Upgrade } from "./websocket/sockets.ts";
import type { WebSocketSettings } from "./websocket/web-socket-settings.ts";
import { lingerMs } from "./write-reply.ts";

export type HttpServer = {
  host: string;
  port: number;
  /** Undefined without TLS. */
  certificate(): Certificate | undefined;
  /** Serves the certificate of other files from now on. Does nothing without TLS. */
  useCertificate(files: TlsFiles): void;
  /** From now on each answer closes its connection. New ones are taken as before, until `delayMs` are over. */
  drain(options: { delayMs: number }): Promise<void>;
  /**
   * Stops listening, lets answers on their way go out, and closes what is left after `timeoutMs`. Before that it goes on to
   * answer on open connections, each with its last answer, until their clients have closed them, for `idleMs` at most.
   */
  stop(options: { timeoutMs: number; idleMs?: number }): Promise<void>;
};

export type HttpServerOptions = RequestSettings & {
  host: string;
  port: number;
  /** Other processes of this service listen there too, and the kernel gives each a share of the connections. */
  isPortShared?: boolean;
  tls: TlsFiles | undefined;
  /** The reply to a request whose body comes in chunks, none of them with its head. */
  refuseBodiless: (head: RequestHead) => Reply;
  upgrade: Upgrade;
  sockets: Pick<Sockets, "stop" | "count">;
  webSocketSettings: WebSocketSettings;
  slots: ConnectionSlots;
  /** Ends what requests wait for, so that they are answered at once. */
  giveUp: () => void;
  logger: Logger;
};

/** The part of the time for stopping in which requests that still wait are refused. */
const lastWordsMsMax = 300;

/**
 * HTTP over uWebSockets.js, with `tls` over TLS. `handle` gets each request and answers it once; it must not throw.
 *
 * The port is taken exclusively, unless it is shared on purpose: the library's default (SO_REUSEPORT) would let a second
 * gateway share it in silence.
 * The library closes connections whose head stalls for 10 s or whose body comes in at less than 16 KB a second.
 *
 * @throws Error where the port is taken; CertificateError where `tls` names files that cannot be used.
 */
export async function startHttpServer(options: HttpServerOptions): Promise<HttpServer> {
  const { host, port, isPortShared = false, tls, sockets, slots, giveUp, logger } = options;
  const connections = createHttpConnections({ slots });
  const drain = createDrain({ lingerMs });
  const serve = createServe({ options, connections, drain });
  const secure = tls === undefined ? undefined : createSecureApp({ files: tls, serve, logger });
  const app = secure?.acceptor ?? serve(App());

  const socket = await new Promise<us_listen_socket | false>((listening) => {
    app.listen(host, port, isPortShared ? sharedPort : exclusivePort, listening);
  });
  if (socket === false) {
    (secure ?? app).close();
    throw new Error(`${host}:${port} cannot be listened on: the port is taken`);
  }

  return {
    host,
    port: us_socket_local_port(socket),
    certificate: () => secure?.certificate(),
    useCertificate: (files) => secure?.useFiles(files),
    async drain({ delayMs }) {
      drain.begin();
      await wait(delayMs);
    },
    async stop({ timeoutMs, idleMs = 0 }) {
      drain.begin();
      us_listen_socket_close(socket);
      if (idleMs > 0) {
        await Promise.all([sockets.stop({ timeoutMs }), drain.untilEmpty(idleMs)]);
      }
      const lastWordsMs = Math.min(lastWordsMsMax, timeoutMs / 4);
      const socketsStopped = sockets.stop({ timeoutMs });
      const patienceMs = timeoutMs - lastWordsMs;
      await Promise.race([
        Promise.all([drain.untilDone(patienceMs), socketsStopped]),
        wait(patienceMs, undefined, { ref: false }),
      ]);
      if (!drain.isDone() || sockets.count() > 0) {
        giveUp();
        // The calls that were given up are answered in later turns of the event loop.
        await wait(lastWordsMs / 2);
        for (const { request } of connections.all()) request?.("late");
        await drain.untilDone(lastWordsMs / 2);
      }
      await socketsStopped;
      (secure ?? app).close();
    },
  };
}

/** Makes the function that adds the routes and the listener for connections to an app. */
function createServe({
  options,
  connections,
  drain,
}: {
  options: HttpServerOptions;
  connections: HttpConnections;
  drain: Drain;
}): Serve {
  const { upgrade, refuseBodiless, webSocketSettings, readers } = options;
  const begin: Arrival["begin"] = (arrival, connection, chunk, isLast) =>
    beginRequest(options, drain, arrival, connection, chunk, isLast);

  return (app, countOfApp) => {
    const count = (opened: number) => {
      drain.countConnection(opened);
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
        connections.arrived({ res, head: readHead(req), begin, refuse: refuseBodiless });
      });
  };
}
