import { STATUS_CODES } from "node:http";
import type { Reply } from "./exchange.ts";
import type { HttpResponse } from "./uws.ts";

/** How many bytes the library gathers before it writes, while it reads requests. */
const corkBytes = 16 * 1024;

/**
 * Writes an answer and closes the connection. The whole answer goes out as the text of its status: a response that is ended
 * in the library's own way forgets its listeners, and then nobody hears that its connection has closed. Blanks at the end
 * make the answer too long to be gathered: the library drops what it has gathered when a connection closes.
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
