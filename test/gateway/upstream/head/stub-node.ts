import { createHash } from "node:crypto";
import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";
import type { Test } from "tap";
import { type WebSocket, WebSocketServer } from "ws";
import type { HeaderChain } from "./header-chain.ts";

export type StubNode = Awaited<ReturnType<typeof startStubNode>>;

const arrayRefusal = '{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"Invalid Request"}}';

type Call = { id: number; method: string; params: unknown[] };
/** `stuck` is on the next port, takes the handshake and then neither says nor answers anything, not even a close. */
type WebSocketKind = "same" | "next" | "none" | "stuck";

/**
 * A node that is on a scripted chain, as far as a test says. Its WebSocket is on the same port (as anvil's), on the next
 * one (as Besu's), or nowhere.
 */
export async function startStubNode(
  t: Test,
  options: { chain: HeaderChain; height: number; webSocket?: WebSocketKind },
) {
  const { webSocket = "same" } = options;
  const faults = { hangs: false, silent: false, refusesArrays: false, body: undefined as string | undefined };
  const asked: string[] = [];
  const messages: string[] = [];
  const sockets = new Set<Socket>();
  const upgraded = new WebSocketServer({ noServer: true });
  let { chain, height } = options;
  let chainId = 8845;
  let ports: number[] = [];
  let servers: Server[] = [];
  let subscriptions = 0;
  let handshakes = 0;

  function result({ method, params }: Call): unknown {
    asked.push(method);
    if (method === "eth_chainId") return `0x${chainId.toString(16)}`;
    if (method === "eth_blockNumber") return `0x${height.toString(16)}`;
    const number = params[0] === "latest" ? height : Number(params[0]);
    return number > height ? null : chain.block(number).block;
  }

  function answer(body: string): string {
    if (faults.body !== undefined) return faults.body;
    const request: Call | Call[] = JSON.parse(body);
    const one = (call: Call) => ({ jsonrpc: "2.0", id: call.id, result: result(call) });
    if (!Array.isArray(request)) return JSON.stringify(one(request));
    return faults.refusesArrays ? arrayRefusal : JSON.stringify(request.map(one));
  }

  const httpServer = () => serverOf({ hangs: () => faults.hangs, answer });

  function accept(socket: WebSocket): void {
    socket.on("error", () => {});
    socket.on("message", (data: Buffer) => {
      messages.push(data.toString());
      if (faults.hangs) return;
      const { id }: Call = JSON.parse(data.toString());
      subscriptions += 1;
      socket.send(JSON.stringify({ jsonrpc: "2.0", id, result: "0x5" }));
    });
  }

  function push(text: string): void {
    if (faults.hangs || faults.silent) return;
    for (const socket of upgraded.clients) socket.send(text);
  }

  async function comeBack(): Promise<void> {
    const withNext = webSocket === "next" || webSocket === "stuck";
    ({ servers, ports } = await listenOn({ httpServer, port: ports[0] ?? 0, withNext }));
    for (const server of servers) keepSockets(server, sockets);
    if (webSocket === "none") return;
    servers.at(-1)?.on("upgrade", (request, socket, head) => {
      handshakes += 1;
      if (webSocket === "stuck") {
        shakeHands(socket, String(request.headers["sec-websocket-key"]));
      } else if (faults.hangs) {
        // Only a socket that is read sees the other side leave.
        socket.resume();
      } else upgraded.handleUpgrade(request, socket, head, accept);
    });
  }

  async function die(): Promise<void> {
    const closing = servers.map((server) => new Promise((resolve) => server.close(resolve)));
    for (const socket of sockets) socket.destroy();
    servers = [];
    await Promise.all(closing);
  }

  t.teardown(die);
  await comeBack();
  return {
    url: `http://127.0.0.1:${ports[0]}`,
    wsUrl: `ws://127.0.0.1:${ports[1]}`,
    faults,
    /** Methods asked over HTTP, in order. */
    asked,
    /** What came over the WebSocket. */
    messages,
    handshakes: () => handshakes,
    subscriptions: () => subscriptions,
    connections: () => sockets.size,
    /** Blocks come, and each is told to who subscribed. */
    mine(blocks = 1): void {
      for (let mined = 0; mined < blocks; mined += 1) {
        height += 1;
        push(headText(chain.block(height).block));
      }
    },
    /** It has another chain or height from now on, and tells nobody. */
    become(next: { chain?: HeaderChain; height?: number; chainId?: number }): void {
      ({ chain = chain, height = height, chainId = chainId } = next);
    },
    push,
    die,
    comeBack,
  };
}

function headText(head: unknown): string {
  const params = { subscription: "0x5", result: head };
  return JSON.stringify({ jsonrpc: "2.0", method: "eth_subscription", params });
}

/** JSON-RPC by POST. */
function serverOf({ hangs, answer }: { hangs: () => boolean; answer: (body: string) => string }): Server {
  return createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      if (hangs()) return;
      // A WebSocket's handshake where there is none is a GET like any other.
      if (request.method !== "POST") {
        response.writeHead(404).end();
        return;
      }
      response.writeHead(200, { "content-type": "application/json" });
      response.end(answer(Buffer.concat(chunks).toString()));
    });
  });
}

function keepSockets(server: Server, sockets: Set<Socket>): void {
  server.on("connection", (socket: Socket) => {
    sockets.add(socket);
    socket.on("close", () => sockets.delete(socket));
  });
}

/** Takes a WebSocket's handshake, and nothing after it. */
function shakeHands(socket: Duplex, key: string): void {
  socket.on("error", () => {}).resume();
  // Node's HTTP server leaves its side open when the other one is closed.
  socket.on("end", () => socket.destroy());
  socket.write(handshakeAnswer(key));
}

/** On one port, or with a second server on the port after it. */
async function listenOn({
  httpServer,
  port,
  withNext,
}: {
  httpServer: () => Server;
  port: number;
  withNext: boolean;
}): Promise<{ servers: Server[]; ports: number[] }> {
  for (;;) {
    const first = await listen(httpServer(), port);
    if (!withNext) return { servers: [first.server], ports: [first.port, first.port] };
    const second = await listen(createServer(), first.port + 1).catch(() => undefined);
    if (second !== undefined) {
      return { servers: [first.server, second.server], ports: [first.port, second.port] };
    }
    // The next port belongs to somebody else: another pair is tried.
    first.server.close();
  }
}

/** RFC 6455 section 4.2.2. */
function handshakeAnswer(key: string): string {
  const accept = createHash("sha1").update(`${key}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`).digest("base64");
  const fields = ["Upgrade: websocket", "Connection: Upgrade", `Sec-WebSocket-Accept: ${accept}`];
  return `${["HTTP/1.1 101 Switching Protocols", ...fields].join("\r\n")}\r\n\r\n`;
}

async function listen(server: Server, port: number): Promise<{ server: Server; port: number }> {
  server.listen(port, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  return { server, port: typeof address === "object" && address !== null ? address.port : 0 };
}
