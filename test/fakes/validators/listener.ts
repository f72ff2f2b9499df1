import { once } from "node:events";
import { createServer, type RequestListener, type Server } from "node:http";
import type { Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";

export type Listener = ReturnType<typeof createListener>;

const host = "127.0.0.1";
const listenAttemptsMax = 50;

/** An HTTP server on loopback that can die (port closed, sockets destroyed) and come back on the same port. */
export function createListener({
  onRequest,
  onUpgrade,
  connectionsChanged,
  connectionsMax,
}: {
  onRequest: RequestListener;
  onUpgrade?: (request: Parameters<RequestListener>[0], socket: Socket, head: Buffer) => void;
  connectionsChanged: (open: number) => void;
  connectionsMax: number;
}) {
  const sockets = new Set<Socket>();
  let limit = connectionsMax;
  let server: Server | undefined;
  let port = 0;

  function build(): Server {
    // Besu closes no idle connection, and waits for a slow request as long as it takes.
    const built = createServer({ keepAliveTimeout: 0, requestTimeout: 0, headersTimeout: 0 }, onRequest);
    // One connection too many is closed without a word.
    built.maxConnections = limit;
    built.on("connection", (socket: Socket) => {
      sockets.add(socket);
      connectionsChanged(sockets.size);
      socket.on("error", () => {});
      socket.once("close", () => {
        sockets.delete(socket);
        connectionsChanged(sockets.size);
      });
    });
    if (onUpgrade !== undefined) {
      built.on("upgrade", (request, socket: Socket, head: Buffer) => onUpgrade(request, socket, head));
    }
    return built;
  }

  async function start(): Promise<void> {
    if (server !== undefined) return;
    for (let attempt = 1; ; attempt += 1) {
      const built = build();
      try {
        built.listen(port, host);
        await once(built, "listening");
        server = built;
        const address = built.address();
        if (address !== null && typeof address === "object") port = address.port;
        return;
      } catch (cause) {
        // Somebody's outgoing connection may hold the port for a moment.
        if (attempt === listenAttemptsMax) throw new Error(`port ${port} did not become free`, { cause });
        await sleep(100);
      }
    }
  }

  async function die(): Promise<void> {
    const dying = server;
    server = undefined;
    if (dying === undefined) return;
    const closed = once(dying, "close");
    dying.close();
    dropConnections();
    await closed;
  }

  function dropConnections(): void {
    for (const socket of sockets) socket.destroy();
  }

  return {
    start,
    die,
    dropConnections,
    port: () => port,
    isOpen: () => server !== undefined,
    limitConnections(most: number): void {
      limit = most;
      if (server !== undefined) server.maxConnections = most;
    },
  };
}
