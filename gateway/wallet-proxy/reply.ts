import { type IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { errorTable } from "../../lib/errors.ts";
import { type Refusal, rpcErrorText } from "../json-rpc/refusal.ts";

export type Reply = {
  status: number;
  headers: Readonly<Record<string, string>>;
  body?: string | Uint8Array;
};

/** A JSON-RPC error. Ids are the bytes that came, one a character; messages of ours are ASCII. */
export function rpcReply(refused: Refusal, idText = "null"): Reply {
  return {
    status: errorTable[refused.refused].status,
    headers: { ...refused.headers, "Content-Type": "application/json" },
    body: Buffer.from(`{"jsonrpc":"2.0","id":${idText},"error":${rpcErrorText(refused)}}`, "latin1"),
  };
}

/** On paths that a person opens in a browser. */
export function textReply({ refused, message, headers }: Refusal): Reply {
  return {
    status: errorTable[refused].status,
    headers: { ...headers, "Content-Type": "text/plain; charset=utf-8" },
    body: `${message}\n`,
  };
}

export function send(response: ServerResponse, { status, headers, body }: Reply): void {
  response.setHeaders(new Map(Object.entries(headers)));
  response.statusCode = status;
  response.end(body);
}

/** Answers a request for another protocol on its bare connection, which ends with it. */
export function sendOnSocket(
  socket: Socket,
  { request, reply }: { request: IncomingMessage; reply: Reply },
): void {
  const response = new ServerResponse(request);
  response.shouldKeepAlive = false;
  response.assignSocket(socket);
  response.once("finish", () => socket.destroySoon());
  send(response, reply);
}
