import { STATUS_CODES } from "node:http";
import type { Reply } from "./exchange.ts";
import type { HttpResponse } from "./uws.ts";

/** What the library gathers before it writes, while it reads requests. */
const corkBytes = 16 * 1024;

/**
 * Writes an answer and closes. All of it goes out as the text of its status: ended in the library's own way, a response
 * forgets its listeners, and nobody is told that its connection has closed. Blanks at its end make it too long to be
 * gathered, since what is gathered for a connection is dropped when that closes.
 */
export function closeWith(
  res: HttpResponse,
  { status, contentType = "application/json", headers, body }: Reply,
): void {
  const text = (typeof body === "string" ? body : "").padEnd(corkBytes);
  const lines = [
    `${status} ${STATUS_CODES[status] ?? ""}`,
    `Content-Type: ${contentType}`,
    ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
    `Content-Length: ${Buffer.byteLength(text)}`,
    "Connection: close",
  ];
  res.cork(() => {
    res.writeStatus(`${lines.join("\r\n")}\r\n\r\n${text}`);
  });
  res.close();
}
