import { connect, createServer, type Socket } from "node:net";
import { computeAddress } from "ethers/transaction";
import { readLines } from "../../../scripts/processes/read-lines.ts";

export type Peers<Message> = {
  count(): number;
  broadcast(message: Message): void;
  send(address: string, message: Message): void;
  stop(): void;
};

type Endpoint = { nodeId: string; host: string; port: number };

const reconnectMs = 100;
const helloWithinMs = 1000;
/** How long the node with the larger id waits for the other one's call. */
const calledWithinMs = 1000;

/** The host and port of an enode URL. */
export function readEnode(text: string): Endpoint {
  const match = /^enode:\/\/([0-9a-f]{128})@([^:]+):(\d+)(?:\?discport=\d+)?$/.exec(text);
  const [, nodeId = "", host = "", port] = match ?? [];
  if (match === null) throw new Error(`Invalid enode URL syntax: ${text}`);
  return { nodeId, host, port: Number(port) };
}

/**
 * Keeps one connection to each static node that runs, over TCP with a line of JSON a message. Of two nodes the one with the
 * smaller id calls; the other one does where no call comes, since it may not be in the first one's list. The first message of either side says who it is; a peer of another chain is refused.
 */
export function startPeers<Message>({
  own,
  others,
  hello,
  readHello,
  onPeer,
  onMessage,
}: {
  own: Endpoint;
  others: readonly Endpoint[];
  hello: () => unknown;
  /** The address of the peer; undefined where it belongs to another chain. */
  readHello: (json: unknown) => string | undefined;
  onPeer: (address: string) => void;
  onMessage: (address: string, json: unknown) => void;
}): Peers<Message> {
  const sockets = new Map<string, Socket>();
  const open = new Set<Socket>();
  let stopped = false;

  function talk(socket: Socket): void {
    let address: string | undefined;
    open.add(socket);
    socket.setNoDelay(true).on("error", () => {});
    socket.write(`${JSON.stringify(hello())}\n`);
    setTimeout(() => address ?? socket.destroy(), helloWithinMs).unref();
    void readLines({
      stream: socket,
      onLine(line) {
        const json = parse(line);
        if (address !== undefined) return onMessage(address, json);
        address = readHello(json);
        if (address === undefined) return socket.destroy();
        sockets.get(address)?.destroy();
        sockets.set(address, socket);
        onPeer(address);
      },
    }).then(() => {
      open.delete(socket);
      if (address !== undefined && sockets.get(address) === socket) sockets.delete(address);
    });
  }

  function call(endpoint: Endpoint): void {
    if (stopped) return;
    if (sockets.has(computeAddress(`0x04${endpoint.nodeId}`).toLowerCase())) {
      callLater(endpoint);
      return;
    }
    const socket = connect({ host: endpoint.host, port: endpoint.port });
    socket.once("connect", () => talk(socket));
    socket.once("error", () => {});
    socket.once("close", () => callLater(endpoint));
  }

  function callLater(endpoint: Endpoint): void {
    setTimeout(() => call(endpoint), own.nodeId < endpoint.nodeId ? reconnectMs : calledWithinMs);
  }

  const server = createServer(talk);
  server.on("error", () => {});
  server.listen(own.port, own.host);
  for (const endpoint of others) {
    if (own.nodeId < endpoint.nodeId) call(endpoint);
    else callLater(endpoint);
  }

  return {
    count: () => sockets.size,
    broadcast(message) {
      for (const socket of sockets.values()) socket.write(`${JSON.stringify(message)}\n`);
    },
    send: (address, message) => void sockets.get(address)?.write(`${JSON.stringify(message)}\n`),
    stop() {
      stopped = true;
      server.close();
      for (const socket of open) socket.destroy();
    },
  };
}

function parse(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}
