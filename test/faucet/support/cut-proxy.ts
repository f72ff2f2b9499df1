import { once } from "node:events";
import { connect, createServer, type Socket } from "node:net";
import type { Teardown } from "../../helpers/teardown.ts";

/** `cut`: no connection comes through. `mute`: questions arrive and are carried out, and their answers are lost. */
export type CutMode = "open" | "cut" | "mute";

export type CutProxy = {
  url: string;
  set(mode: CutMode): void;
  /** Leads to another node from now on; open connections are cut. */
  redirect(port: number): void;
};

/** A TCP proxy in front of a node, whose connections can be cut at any moment. */
export async function startCutProxy(t: Teardown, { port }: { port: number }): Promise<CutProxy> {
  let mode: CutMode = "open";
  let nodePort = port;
  const sockets = new Set<Socket>();
  const server = createServer((client) => {
    if (mode === "cut") {
      client.destroy();
      return;
    }
    const node = connect(nodePort, "127.0.0.1");
    for (const [socket, other] of [
      [client, node],
      [node, client],
    ] as const) {
      sockets.add(socket);
      socket.on("error", () => {});
      socket.on("close", () => {
        sockets.delete(socket);
        other.destroy();
      });
    }
    client.on("data", (data) => node.write(data));
    node.on("data", (data) => {
      if (mode === "mute") client.destroy();
      else client.write(data);
    });
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("no port");
  t.teardown(async () => {
    const closed = once(server, "close");
    server.close();
    for (const socket of sockets) socket.destroy();
    await closed;
  });
  const cut = () => {
    for (const socket of sockets) socket.destroy();
  };
  return {
    url: `http://127.0.0.1:${address.port}`,
    set(next) {
      mode = next;
      if (mode === "cut") cut();
    },
    redirect(next) {
      nodePort = next;
      cut();
    },
  };
}
