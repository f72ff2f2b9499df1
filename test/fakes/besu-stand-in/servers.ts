import { once } from "node:events";
import { createServer, type Server } from "node:http";
import { toQuantity } from "ethers/utils";
import { WebSocket, WebSocketServer } from "ws";
import { z } from "zod";
import { type RpcAnswer, subscriptionText } from "./answer-rpc.ts";
import type { IsPermitted } from "./authorization.ts";
import type { Block } from "./chain.ts";

const unauthorized: RpcAnswer = { error: { code: -40100, message: "Unauthorized" } };

type Answerer = (method: string, params: readonly unknown[]) => RpcAnswer;

const callSchema = z.object({
  id: z.union([z.number(), z.string(), z.null()]),
  method: z.string(),
  params: z.array(z.unknown()).default([]),
});

/** JSON-RPC over HTTP: single calls and arrays. `/liveness` says UP whatever happens, as Besu's does during a stall. */
export async function startHttp(
  at: { host: string; port: number },
  answer: Answerer,
  isPermitted: IsPermitted,
): Promise<Server> {
  const server = createServer((request, response) => {
    if (request.method === "GET") return void response.end(JSON.stringify({ status: "UP" }));
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      response.setHeader("Content-Type", "application/json");
      const { authorization } = request.headers;
      const text = answerText(Buffer.concat(chunks).toString("utf8"), (method, params) =>
        isPermitted(method, authorization) ? answer(method, params) : unauthorized,
      );
      if (text.startsWith("{") && text.includes(`"code":-40100`)) response.statusCode = 401;
      response.end(text);
    });
  });
  return listening(server, at);
}

/** The same over WebSockets, and `newHeads`. */
export async function startWebSockets(
  at: { host: string; port: number },
  answer: Answerer,
  isPermitted: IsPermitted,
) {
  const http = await listening(createServer(), at);
  const server = new WebSocketServer({ server: http });
  const subscriptions = new Map<WebSocket, string>();
  server.on("connection", (socket, { headers: { authorization } }) => {
    socket.on("error", () => {});
    socket.on("close", () => subscriptions.delete(socket));
    socket.on("message", (data) => {
      socket.send(
        answerText(String(data), (method, params) => {
          if (!isPermitted(method, authorization)) return unauthorized;
          if (method !== "eth_subscribe") return answer(method, params);
          const id = toQuantity(subscriptions.size + 1);
          subscriptions.set(socket, id);
          return { result: id };
        }),
      );
    });
  });
  return {
    server: http,
    announce(block: Block): void {
      for (const [socket, id] of subscriptions) {
        if (socket.readyState === WebSocket.OPEN) socket.send(subscriptionText(id, block));
      }
    },
  };
}

/** Prometheus: the two figures of Besu's that our rules look at. */
export async function startMetrics(
  at: { host: string; port: number },
  figures: () => { height: number; peers: number },
): Promise<Server> {
  const server = createServer((_request, response) => {
    const { height, peers } = figures();
    response.setHeader("Content-Type", "text/plain; version=0.0.4");
    response.end(`ethereum_blockchain_height ${height}\nethereum_peer_count ${peers}\n`);
  });
  return listening(server, at);
}

async function listening(server: Server, { host, port }: { host: string; port: number }): Promise<Server> {
  server.listen(port, host);
  await once(server, "listening");
  return server;
}

function answerText(text: string, answer: Answerer): string {
  const one = (json: unknown) => {
    const call = callSchema.safeParse(json);
    if (!call.success)
      return { jsonrpc: "2.0", id: null, error: { code: -32600, message: "Invalid Request" } };
    const { id, method, params } = call.data;
    return { jsonrpc: "2.0", id, ...answer(method, params) };
  };
  try {
    const json: unknown = JSON.parse(text);
    return JSON.stringify(Array.isArray(json) ? json.map(one) : one(json));
  } catch {
    return JSON.stringify({ jsonrpc: "2.0", id: null, error: { code: -32700, message: "Parse error" } });
  }
}
