import { randomUUID } from "node:crypto";
import {
  type FastifyError,
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
  fastify,
} from "fastify";
import type { Logger } from "pino";
import { errorTable } from "../errors.ts";
import { collectAllowedMethods } from "./allowed-methods.ts";
import { answerUnreadable } from "./answer-unreadable.ts";
import type { BodyReader } from "./body-reader.ts";
import { drainServer } from "./drain-server.ts";
import { createIsOwnHost, notOwnHost } from "./own-host.ts";
import { type Refusal, refusal } from "./refusal.ts";
import { type Refuse, sendProblem } from "./send-problem.ts";

export type HttpServiceOptions = {
  bodies: BodyReader;
  bodyBytesMax: number;
  /** For a request to come whole, headers and body. */
  requestTimeoutMs: number;
  /**
   * For a listener that machines use: the names that it answers to besides loopback and its address, and the setting
   * that has them. Undefined where it is for everybody, by any name.
   */
  ownHosts?: { names: readonly string[]; setting: string } | undefined;
  /** What a client is told of an error that the process expects, such as a store that is away. */
  explain?: (error: unknown) => Refusal | undefined;
  /** Replaces the problem document, for pages. */
  refuse?: Refuse;
  logger: Pick<Logger, "warn" | "error">;
};

const lateLookMs = 1000;
/** More than Node takes as headers. */
const pathLengthMax = 65_536;

/**
 * A Fastify instance that answers every error there is with a problem document in our words: paths and methods that
 * there are not (404, 405 with `Allow`), requests that come too slowly (408), bodies too large (413) or of another type
 * (415), headers too large (431), malformed ones (400), and what a handler throws (500, logged with the request's ID).
 * Every answer has `X-Request-Id`, and `Cache-Control: no-store` unless its handler says otherwise.
 *
 * Routes are added to what it returns.
 */
export function createHttpService({
  bodies,
  bodyBytesMax,
  requestTimeoutMs,
  ownHosts,
  explain = () => undefined,
  refuse = sendProblem,
  logger,
}: HttpServiceOptions): FastifyInstance {
  const app = fastify({
    bodyLimit: bodyBytesMax,
    requestTimeout: requestTimeoutMs,
    // Node looks for late requests every 30 s and gives headers 60 s, unless it is told otherwise.
    // It answers a request without Host with an empty body; ours has one, see below.
    http: {
      headersTimeout: requestTimeoutMs,
      connectionsCheckingInterval: lateLookMs,
      requireHostHeader: false,
    },
    forceCloseConnections: "idle",
    return503OnClosing: false,
    genReqId: () => randomUUID(),
    // A parameter of any length is one that there is not.
    routerOptions: { ignoreTrailingSlash: true, maxParamLength: pathLengthMax },
    frameworkErrors(_error, request, reply) {
      // No hook runs for these.
      addCommonHeaders(request, reply);
      void refuse({ request, reply, refused: unreadable });
    },
    clientErrorHandler: answerUnreadable,
  });
  // Hooks of every request have no promises. RFC 9112 section 3.2:
  app.addHook("onRequest", (request, reply, done) => {
    const { headers, httpVersion } = request.raw;
    if (headers.host !== undefined || httpVersion === "1.0") return done();
    void refuse({ request, reply, refused: withoutHost });
  });
  const allowedMethods = collectAllowedMethods(app);
  bodies.addTo(app);
  if (ownHosts !== undefined) {
    const isOwnHost = createIsOwnHost({ hosts: ownHosts.names });
    const foreignHost = refusal("forbidden", `${notOwnHost} (${ownHosts.setting})`);
    app.addHook("onRequest", async (request, reply) => {
      if (!isOwnHost(request.raw)) return refuse({ request, reply, refused: foreignHost });
    });
  }
  app.addHook("onSend", (request, reply, _payload, done) => {
    addCommonHeaders(request, reply);
    done();
  });
  app.setErrorHandler<FastifyError>((error, request, reply) => {
    const explained = explain(error);
    if (explained !== undefined) {
      logger.warn({ err: error, requestId: request.id }, "a request was refused for what it needs");
      return refuse({ request, reply, refused: explained });
    }
    const refused = explainFastify(error, { bodyBytesMax, bodies });
    if (refused !== undefined) return refuse({ request, reply, refused });
    logger.error({ err: error, requestId: request.id }, "a request failed");
    return refuse({ request, reply, refused: internal });
  });
  const refuseUnknown = async (request: FastifyRequest, reply: FastifyReply) => {
    const [path = ""] = request.url.split("?", 1);
    const allowed = allowedMethods(path.length > 1 ? path.replace(/\/$/, "") : path);
    if (allowed === undefined) return refuse({ request, reply, refused: notFound });
    reply.header("Allow", allowed);
    return refuse({
      request,
      reply,
      refused: refusal("method_not_allowed", `This takes ${allowed} only`),
    });
  };
  // Before a body is looked at: that its type is wrong is no news to whoever asks for what there is not.
  app.addHook("preParsing", async (request, reply) => {
    if (request.is404) return refuseUnknown(request, reply);
  });
  app.setNotFoundHandler(refuseUnknown);
  return app;
}

export type Listener = {
  host: string;
  port: number;
  /**
   * Takes no more connections, and answers on those that are open, each with its last answer, until their clients have closed
   * them, for `idleMs` at most: another process listens on the port already.
   */
  drain(options: { idleMs: number }): Promise<void>;
  stop(): Promise<void>;
};

/** Listens. With `isPortShared` other processes of ours may listen on the port too. @throws Error where the port is taken. */
export async function listenOn(
  app: FastifyInstance,
  { host, port, isPortShared = false }: { host: string; port: number; isPortShared?: boolean },
): Promise<Listener> {
  try {
    // Node passes `reusePort` on to the socket.
    const options = { host, port, reusePort: isPortShared };
    await app.listen(options);
  } catch (cause) {
    throw new Error(`${host}:${port} cannot be listened on`, { cause });
  }
  const address = app.server.address();
  return {
    host,
    port: typeof address === "object" && address !== null ? address.port : port,
    drain: ({ idleMs }) => drainServer(app.server, { idleMs }),
    stop: () => app.close(),
  };
}

function addCommonHeaders(request: FastifyRequest, reply: FastifyReply): void {
  reply.headers({ "X-Content-Type-Options": "nosniff", "X-Request-Id": request.id });
  if (!reply.hasHeader("Cache-Control")) reply.header("Cache-Control", "no-store");
}

/** What Fastify itself refuses before a handler runs. */
function explainFastify(
  { code, statusCode }: FastifyError,
  { bodyBytesMax, bodies }: { bodyBytesMax: number; bodies: BodyReader },
): Refusal | undefined {
  if (code === "FST_ERR_CTP_INVALID_MEDIA_TYPE") return bodies.wrongType;
  if (code === "FST_ERR_CTP_BODY_TOO_LARGE") {
    return refusal("body_too_large", `${errorTable.body_too_large.meaning}: at most ${bodyBytesMax} bytes`);
  }
  return statusCode !== undefined && statusCode < 500 ? unreadable : undefined;
}

const internal = refusal("internal_error", "Something went wrong on our side");
const notFound = refusal("not_found", "There is nothing here");
const withoutHost = refusal("invalid_params", "A request of HTTP/1.1 names its Host");
const unreadable = refusal("invalid_params", "The request cannot be read");
