import { once } from "node:events";
import { createServer, type IncomingMessage, request, type ServerResponse } from "node:http";
import { createServer as createTlsServer } from "node:https";
import type { AddressInfo, Socket } from "node:net";
import { pino } from "pino";
import type { Test } from "tap";
import { WebSocketServer } from "ws";
import type { RpcProxy } from "../../../gateway/wallet-proxy/rpc-proxy.ts";
import {
  startWalletProxy,
  type WalletProxyConfig,
} from "../../../gateway/wallet-proxy/start-wallet-proxy.ts";
import { createApiKey } from "../../../lib/keys/api-key.ts";

export type TargetRequest = {
  method: string;
  url: string;
  headers: IncomingMessage["headers"];
  body: string;
};

export type TargetUnderTest = {
  url: string;
  port: number;
  /** What arrived: HTTP requests whole, WebSocket handshakes. */
  requests: TargetRequest[];
  answerWith(answer: (response: ServerResponse, request: TargetRequest) => void): void;
  stop(): Promise<void>;
};

/** A gateway's stand-in that keeps what arrives, answers HTTP with a fixed result and echoes over WebSocket. */
export async function startTarget(
  t: Test,
  { port = 0, tls }: { port?: number; tls?: { cert: string; key: string } } = {},
): Promise<TargetUnderTest> {
  const requests: TargetRequest[] = [];
  const sockets = new Set<Socket>();
  let answer = (response: ServerResponse, _request: TargetRequest) => {
    response.setHeader("Content-Type", "application/json").end('{"jsonrpc":"2.0","id":1,"result":"0x228d"}');
  };
  const server = tls === undefined ? createServer() : createTlsServer(tls);
  server.on("connection", (socket: Socket) => {
    sockets.add(socket);
    socket.once("close", () => sockets.delete(socket));
  });
  server.on("request", async (incoming: IncomingMessage, response: ServerResponse) => {
    const arrived = await readWhole(incoming);
    requests.push(arrived);
    answer(response, arrived);
  });
  const webSockets = new WebSocketServer({ noServer: true });
  server.on("upgrade", (incoming: IncomingMessage, socket: Socket, head: Buffer) => {
    requests.push({ method: "upgrade", url: incoming.url ?? "", headers: incoming.headers, body: "" });
    webSockets.handleUpgrade(incoming, socket, head, (webSocket) => {
      webSocket.on("message", (message, isBinary) => webSocket.send(message, { binary: isBinary }));
    });
  });
  server.listen(port, "127.0.0.1");
  await once(server, "listening");
  const { port: listening } = server.address() as AddressInfo;
  const stop = async () => {
    if (!server.listening) return;
    const closed = once(server, "close");
    server.close();
    for (const socket of sockets) socket.destroy();
    await closed;
  };
  t.teardown(stop);
  return {
    url: `${tls === undefined ? "http" : "https"}://127.0.0.1:${listening}`,
    port: listening,
    requests,
    answerWith(next) {
      answer = next;
    },
    stop,
  };
}

export type ProxyUnderTest = RpcProxy & {
  logLines: string[];
  key: string;
};

/** A wallet proxy on a free port with a key of its own, stopped when the test ends. */
export async function startProxy(
  t: Test,
  config: Omit<WalletProxyConfig, "port">,
  key = createApiKey({ profile: "development" }),
): Promise<ProxyUnderTest> {
  const logLines: string[] = [];
  const logger = pino({ level: "debug" }, { write: (line: string) => void logLines.push(line) });
  const proxy = await startWalletProxy({ ...config, port: 0 }, { apiKey: () => key, logger });
  t.teardown(() => proxy.stop());
  return { ...proxy, logLines, key };
}

export type Answered = { status: number; headers: IncomingMessage["headers"]; body: string };

/** A request with exactly these headers: fetch would not let a test set Host, Origin or Sec-Fetch-Site. */
export async function ask(
  port: number,
  {
    method = "POST",
    path = "/",
    headers = {},
    body = method === "POST" ? chainIdCall : "",
  }: { method?: string; path?: string; headers?: Record<string, string>; body?: string } = {},
): Promise<Answered> {
  const type = method === "POST" ? { "Content-Type": "application/json" } : {};
  const outgoing = request({
    host: "127.0.0.1",
    port,
    method,
    path,
    headers: { ...type, ...headers },
    agent: false,
  });
  outgoing.end(body);
  const [response]: IncomingMessage[] = await once(outgoing, "response");
  if (response === undefined) throw new Error("no response came");
  const { body: text } = await readWhole(response);
  return { status: response.statusCode ?? 0, headers: response.headers, body: text };
}

export const chainIdCall = '{"jsonrpc":"2.0","id":7,"method":"eth_chainId","params":[]}';

async function readWhole(message: IncomingMessage): Promise<TargetRequest> {
  const chunks: Buffer[] = [];
  for await (const chunk of message) chunks.push(chunk);
  const { method = "", url = "", headers } = message;
  return { method, url, headers, body: Buffer.concat(chunks).toString() };
}
