import { Agent as HttpAgent, type IncomingMessage, type ServerResponse } from "node:http";
import { Agent as HttpsAgent } from "node:https";
import type { Socket } from "node:net";
import { createProxyServer } from "http-proxy";
import type { Logger } from "pino";
import { ownCookies } from "../../lib/web/own-cookies.ts";
import { type Refusal, refusal } from "../json-rpc/refusal.ts";

/** Where requests go. */
export type Target = {
  /** For people: "the gateway". */
  name: string;
  /** http:// or https://, without a path. */
  url: string;
  /** Where WebSockets go, if not to the same port: Besu has another one for them. */
  webSocketUrl?: string | undefined;
  /** Instead of the two above, for several nodes: asked at each request which node gets it. */
  node?: (() => Node) | undefined;
  /** Certificates (PEM) to be trusted instead of the public authorities'. */
  ca?: string | undefined;
  /** Set on each request, whatever the client sent. Asked for each time, because a key may be replaced. */
  headers: () => Readonly<Record<string, string>>;
};

export type Node = Pick<Target, "url" | "webSocketUrl">;

export type Forwarder = {
  /**
   * Passes a request on and its answer back. `isPage`: with the cookies of our own pages. `onFailure`: no answer has
   * begun.
   */
  forward(
    request: IncomingMessage,
    response: ServerResponse,
    { isPage }: { isPage: boolean },
    onFailure: (refused: Refusal) => void,
  ): void;
  /** Joins a WebSocket. `onFailure`: nothing has been written to the client. */
  join(request: IncomingMessage, socket: Socket, head: Buffer, onFailure: (refused: Refusal) => void): void;
  /** Closes all connections to the target. */
  stop(): void;
};

/** For opening a connection, and for the answer to a WebSocket's handshake. */
const connectTimeoutMs = 10_000;
/** Longer than a gateway takes for anything (28 s); a dev chain may trace for a while. */
const silenceMsMax = 180_000;
/** Shorter than servers keep an idle connection (uWebSockets.js 10 s), so that none is used as it is being closed. */
const idleMs = 4000;
const connectionsMax = 256;

/**
 * Not for the target: the client's own key, what a browser adds for the origin that it believes to talk to (cookies are
 * shared by all ports of a host), and 100-continue, which our server has answered.
 */
const droppedHeaders = ["x-api-key", "cookie", "origin", "referer", "expect"];

export function createForwarder({ target, logger }: { target: Target; logger: Logger }): Forwarder {
  const agentOptions = { keepAlive: true, timeout: idleMs, maxSockets: connectionsMax };
  const agent = target.url.startsWith("https:")
    ? new HttpsAgent({ ...agentOptions, ...(target.ca === undefined ? {} : { ca: target.ca }) })
    : new HttpAgent(agentOptions);
  const proxy = createProxyServer({
    target: target.url,
    agent,
    secure: true,
    changeOrigin: true,
    connectTimeout: connectTimeoutMs,
    proxyTimeout: silenceMsMax,
  });
  let answers = true;
  const nodeNow = (): Node => target.node?.() ?? target;

  function tell(now: boolean, code?: string): void {
    if (answers === now) return;
    answers = now;
    if (now) logger.info({ target: target.url }, `${target.name} answers again`);
    else logger.warn({ target: target.url, code }, `${target.name} does not answer`);
  }

  function failed(error: Error): Refusal {
    const code = codeOf(error);
    tell(false, code);
    return refusal("upstream_unavailable", failureText({ target, code }), {
      headers: { "Retry-After": "1" },
    });
  }

  // The library throws if there is no listener. A client that went away is no error.
  proxy.on("error", (error) => logger.debug({ err: error }, "a connection broke"));
  proxy.on("proxyRes", (answer, _request, response) => {
    tell(true);
    passOn(answer, response);
  });
  // The library would go on with the handshake after its client has left, and wait for it without end.
  proxy.on("proxyReqWs", (outgoing, _request, socket) => {
    const abandon = () => outgoing.destroy();
    socket.once("close", abandon);
    outgoing.setTimeout(connectTimeoutMs, abandon);
    outgoing.once("upgrade", () => {
      tell(true);
      socket.off("close", abandon);
    });
  });

  return {
    forward(request, response, { isPage }, onFailure) {
      const cookie = isPage ? ownCookies(request.headers.cookie) : undefined;
      dropHeaders(request);
      if (cookie !== undefined) request.headers.cookie = cookie;
      proxy.web(request, response, { target: nodeNow().url, headers: target.headers() }, (error) => {
        const refused = failed(error);
        if (response.headersSent) response.destroy();
        else onFailure(refused);
      });
    },
    join(request, socket, head, onFailure) {
      dropHeaders(request);
      const writtenBefore = socket.bytesWritten;
      const { url, webSocketUrl = url } = nodeNow();
      proxy.ws(request, socket, head, { target: webSocketUrl, headers: target.headers() }, (error) => {
        // After the handshake the connection carries frames. If it breaks then, it is just closed.
        if (!socket.destroyed && socket.bytesWritten === writtenBefore) onFailure(failed(error));
      });
    },
    stop: () => agent.destroy(),
  };
}

function dropHeaders(request: IncomingMessage): void {
  for (const name of droppedHeaders) delete request.headers[name];
}

function passOn(answer: IncomingMessage, response: ServerResponse): void {
  const { headers } = answer;
  for (const name of Object.keys(headers)) {
    // The proxy itself says who may read its answers. How long a connection lives is for its own two ends to say.
    if (/^(?:access-control-.*|connection|keep-alive)$/.test(name)) delete headers[name];
  }
  const vary = [response.getHeader("vary"), headers.vary].filter((value) => value !== undefined);
  if (vary.length > 0) headers.vary = vary.join(", ");
  // The library leaves a client waiting for the rest of an answer that breaks off.
  answer.once("close", () => {
    if (!answer.complete) response.destroy();
  });
}

function codeOf(error: Error): string {
  return "code" in error && typeof error.code === "string" ? error.code : error.name;
}

function failureText({ target: { name, url }, code }: { target: Target; code: string }): string {
  if (/CERT|SELF_SIGNED|UNABLE_TO_/.test(code)) {
    return `The certificate of ${name} (${url}) is not trusted: ${code}. --ca FILE names an authority to trust`;
  }
  return `${name.charAt(0).toUpperCase()}${name.slice(1)} (${url}) does not answer: ${code}`;
}
