import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { Socket } from "node:net";
import type { Duplex } from "node:stream";
import type { Logger } from "pino";
import { isRefusal, type Refusal, refusal } from "../json-rpc/refusal.ts";
import { createAdmission } from "./admission.ts";
import { corsHeaders, preflightHeaders } from "./cors.ts";
import { createForwarder, type Target } from "./forwarder.ts";
import { rpcReply, send, sendOnSocket, textReply } from "./reply.ts";
import { overhearId } from "./request-id.ts";
import { createRoutes, type PageOf, pathOf } from "./routes.ts";

export type RpcProxy = {
  port: number;
  /** With a slash at its end. */
  url: string;
  /** Lets answers on their way go out, for two seconds at most; WebSockets are closed at once. */
  stop(): Promise<void>;
};

const host = "127.0.0.1";
const connectionsMax = 1024;
const stopWithinMs = 2000;

/** On every answer except the refusal of a strange page. A page of another site must not embed these answers. */
const ownHeaders = { "X-Content-Type-Options": "nosniff", "Cross-Origin-Resource-Policy": "same-origin" };

/**
 * Starts a proxy for JSON-RPC on loopback: POST and WebSocket of `/` go to the target, and so do the pages of
 * `passedFolder`. Bodies stream in both directions. The target bounds how large or slow they may be.
 *
 * @throws Error with the system's code where the port cannot be had.
 */
export async function startRpcProxy({
  port,
  target,
  sites = [],
  passedFolder,
  pages = () => new Map(),
  logger,
}: {
  /** 0 takes a free one. */
  port: number;
  target: Target;
  /** Origins that are let in besides loopback and extensions. */
  sites?: readonly string[];
  /** Begins and ends with a slash. */
  passedFolder?: string;
  /** What is answered by the proxy itself, by path, once its own address is known. */
  pages?: (url: string) => ReadonlyMap<string, PageOf>;
  logger: Logger;
}): Promise<RpcProxy> {
  const admit = createAdmission({ sites, logger });
  const forwarder = createForwarder({ target, logger });
  const { server, port: listening } = await listen(port);
  const url = `http://${host}:${listening}/`;
  const routeOf = createRoutes({ url, passedFolder, pages: pages(url) });
  const upgraded = new Set<Socket>();

  function handle(request: IncomingMessage, response: ServerResponse): void {
    const path = pathOf(request);
    const refuse = (refused: Refusal, idText?: string) =>
      send(response, path === "/" ? rpcReply(refused, idText) : textReply(refused));
    const unwelcome = admit(request);
    if (unwelcome !== undefined) {
      refuse(unwelcome);
      return;
    }
    const { method = "", headers } = request;
    response.setHeaders(new Map(Object.entries({ ...ownHeaders, ...corsHeaders(headers) })));
    const route = routeOf({ method, path });
    if (isRefusal(route)) {
      refuse(route);
    } else if (route.kind === "preflight") {
      send(response, { status: 204, headers: preflightHeaders(headers, route.methods) });
    } else if (route.kind === "page") {
      send(response, { status: 200, ...route.page(request) });
    } else {
      const readId = overhearId(request);
      forwarder.forward(request, response, route, async (refused) => {
        const idText = await readId();
        if (!response.headersSent) refuse(refused, idText);
      });
    }
  }

  function upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    if (!(socket instanceof Socket)) throw new Error("this server speaks plain HTTP, over sockets alone");
    upgraded.add(socket);
    socket.once("close", () => upgraded.delete(socket));
    // The server has no listener on it any more, and an error without a listener would end the process.
    socket.on("error", (error) => logger.debug({ err: error }, "a connection broke"));
    const refuse = (refused: Refusal) => sendOnSocket(socket, { request, reply: rpcReply(refused) });
    const refused = admit(request) ?? refuseHandshake(request);
    if (refused === undefined) forwarder.join(request, socket, head, refuse);
    else refuse(refused);
  }

  server.on("request", handle).on("upgrade", upgrade);
  return {
    port: listening,
    url,
    async stop() {
      const closed = once(server, "close");
      server.close();
      for (const socket of upgraded) socket.destroy();
      const late = setTimeout(() => server.closeAllConnections(), stopWithinMs);
      await closed;
      clearTimeout(late);
      forwarder.stop();
    },
  };
}

async function listen(port: number) {
  const server = createServer();
  server.maxConnections = connectionsMax;
  server.listen({ port, host, exclusive: true });
  await once(server, "listening");
  const address = server.address();
  return { server, port: typeof address === "object" && address !== null ? address.port : port };
}

function refuseHandshake(request: IncomingMessage): Refusal | undefined {
  if (pathOf(request) !== "/") {
    return refusal("not_found", "Nothing is served at this path: WebSocket is at /");
  }
  if (request.method === "GET" && request.headers.upgrade?.toLowerCase() === "websocket") return undefined;
  return refusal("invalid_request", "Malformed HTTP request: the only Upgrade accepted is websocket");
}
