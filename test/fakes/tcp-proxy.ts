import { once } from "node:events";
import { connect, createServer, type Socket } from "node:net";

export type TcpProxy = {
  port: number;
  /** Ends all connections. */
  cut(): void;
  stop(): Promise<void>;
};

/** A TCP proxy on loopback, between a client and a server that is to look faulty. */
export async function startTcpProxy({
  port: serverPort,
  isOpen = () => true,
  answer,
}: {
  port: () => number;
  /** Whether a new connection comes through. */
  isOpen?: () => boolean;
  /** Gives the client what the server answers, or does not. */
  answer: (client: Socket, data: Buffer) => void;
}): Promise<TcpProxy> {
  const sockets = new Set<Socket>();
  const server = createServer((client) => {
    if (!isOpen()) {
      client.destroy();
      return;
    }
    const upstream = connect(serverPort(), "127.0.0.1");
    for (const [socket, other] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      sockets.add(socket);
      socket.on("error", () => {});
      socket.on("close", () => {
        sockets.delete(socket);
        other.destroy();
      });
    }
    client.on("data", (data) => upstream.write(data));
    upstream.on("data", (data) => answer(client, data));
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("no port");
  const cut = () => {
    for (const socket of sockets) socket.destroy();
  };
  return {
    port: address.port,
    cut,
    async stop() {
      const closed = once(server, "close");
      server.close();
      cut();
      await closed;
    },
  };
}
