import { randomUUID } from "node:crypto";
import { STATUS_CODES } from "node:http";
import type { Socket } from "node:net";
import { problemDocument, problemType } from "./problem.ts";

/** What Node's parser found, by its code: the status that HTTP has for it, and what to do. */
const found: Readonly<Record<string, { status: number; detail: string }>> = {
  ERR_HTTP_REQUEST_TIMEOUT: { status: 408, detail: "The request did not come whole in time; send it again" },
  HPE_HEADER_OVERFLOW: { status: 431, detail: "The request's headers are too large" },
};
const malformed = { status: 400, detail: "The request is no HTTP that can be read" };

/** Answers a request that never reached a handler, where the connection still takes an answer, and closes it. */
export function answerUnreadable(error: Error & { code?: string }, socket: Socket): void {
  if (error.code === "ECONNRESET" || socket.destroyed) return;
  if (!socket.writable) return void socket.destroy();
  const { status, detail } = found[error.code ?? ""] ?? malformed;
  const requestId = randomUUID();
  const title = STATUS_CODES[status] ?? "";
  const problem = { ...problemDocument({ condition: "invalid_request", detail, requestId }), title, status };
  const body = JSON.stringify(problem);
  const headers = [
    `Content-Type: ${problemType}`,
    `Content-Length: ${Buffer.byteLength(body)}`,
    `X-Request-Id: ${requestId}`,
    "X-Content-Type-Options: nosniff",
    "Cache-Control: no-store",
    "Connection: close",
  ];
  socket.end(`HTTP/1.1 ${status} ${title}\r\n${headers.join("\r\n")}\r\n\r\n${body}`);
}
