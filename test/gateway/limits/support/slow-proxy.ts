import { once } from "node:events";
import { connect, createServer, type Socket } from "node:net";

export type SlowProxy = {
  readonly url: string;
  /** What the server answers is held back this long. */
  setDelayMs(delayMs: number): void;
  stop(): Promise<void>;
};

/** A TCP proxy in front of a Redis that delays its answers. */
export async function startSlowProxy(port: number): Promise<SlowProxy> {
  let delayMs = 0;
  const sockets = new Set<Socket>();
  const server = createServer((client) => {
    const upstream = connect(port, "127.0.0.1");
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
    upstream.on("data", (data) => {
      setTimeout(() => client.destroyed || client.write(data), delayMs);
    });
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("no port");
  return {
    url: `redis://127.0.0.1:${address.port}`,
    setDelayMs(next) {
      delayMs = next;
    },
    async stop() {
      const closed = once(server, "close");
      server.close();
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}
