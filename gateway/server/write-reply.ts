import { STATUS_CODES } from "node:http";
import { isPieced, type PiecedBody } from "../answer-budget/answer-chunks.ts";
import type { Reading } from "../answer-budget/reader-watch.ts";
import type { Reply, StreamedBody } from "./exchange.ts";
import type { HttpResponse } from "./uws.ts";
import { writePieces } from "./write-pieces.ts";

/** Writes a whole answer. `finish` is called when the library has its last byte, within the same cork. */
export function writeReply({
  res,
  reply: { status, contentType, headers },
  body,
  close,
  isHead,
  watch,
  finish,
}: {
  res: HttpResponse;
  reply: Reply;
  body: Uint8Array | string | PiecedBody | undefined;
  close: boolean;
  /** RFC 9110 section 9.3.2: the head of the answer alone. */
  isHead: boolean;
  /** Watches a client that does not take a long answer at once. */
  watch: (reading: Reading) => void;
  finish: () => void;
}): void {
  const sent = body ?? (isHead || bodiless.has(status) ? undefined : "");
  // A short string goes as it is: the library writes it itself, and no Buffer is made for it.
  const bytes = sent !== undefined && !isPieced(sent) && sent.length > pieceBytesMax ? inPieces(sent) : sent;
  res.cork(() => {
    writeHead(res, status, contentType, headers);
    if (bytes === undefined) {
      if (close) res.writeHeader("Connection", "close");
      // Any argument, even undefined, would become a Content-Length, which RFC 9110 section 8.6 forbids beside a 204.
      res.endWithoutBody();
      finish();
    } else if (isHead) {
      // With the length as its argument the library would close the connection after it.
      const length = isPieced(bytes) ? bytes.bytes : Buffer.byteLength(bytes);
      res.writeHeader("Content-Length", String(length)).endWithoutBody();
      finish();
    } else if (!isPieced(bytes)) {
      res.end(bytes, close);
      finish();
    } else if (close) {
      res.writeHeader("Connection", "close");
    }
  });
  if (bytes !== undefined && isPieced(bytes) && !isHead)
    writePieces({ res, body: bytes, close, watch, finish });
}

function writeHead(
  res: HttpResponse,
  status: number,
  contentType: string | undefined,
  headers: Reply["headers"],
): void {
  // The library writes "200 OK" by itself; each call into it costs.
  if (status !== 200) res.writeStatus(statusLines[status] ?? statusLine(status));
  // One call for all of them: the library writes a value as it is, and none of ours comes from a client. A call for each
  // took 5 % of a request's time.
  let name = contentType === undefined ? "" : "Content-Type";
  let value = contentType ?? "";
  for (const next in headers) {
    if (name === "") {
      name = next;
      value = headers[next] ?? "";
    } else value += `\r\n${next}: ${headers[next] ?? ""}`;
  }
  if (name !== "") res.writeHeader(name, value);
}

/** Answers that end with their head (RFC 9110 section 6.4.1). Of any other one a client waits for the length of its body. */
const bodiless: ReadonlySet<number> = new Set([204, 304]);

/** How much the library gets in one piece. It gets more of a larger body as the client reads. */
const pieceBytesMax = 64 * 1024;

function inPieces(body: Uint8Array | string): PiecedBody {
  const text = Buffer.from(body).toString("latin1");
  return { pieces: [text], bytes: text.length };
}

/** How long a stop waits for the rest of a stream that the library holds for a slow reader. */
export const lingerMs = 30_000;

/**
 * Passes a stream on at the pace of its reader. A stream that breaks off ends in a reset: it must not look whole.
 *
 * The library holds what it could not hand to the kernel, and sends it with the next piece or the end. It never says
 * when everything is out. So the connection ends with its stream, and a stop waits for that (`linger`).
 */
export function writeStream({
  res,
  reply: { status, contentType, headers },
  body,
  isGone,
  finish,
  linger,
}: {
  res: HttpResponse;
  reply: Reply;
  body: StreamedBody;
  isGone: () => boolean;
  finish: () => void;
  linger: () => void;
}): void {
  let hasRoom = true;
  const write = (chunk: Uint8Array) => {
    hasRoom = res.write(chunk);
    if (!hasRoom) body.pause();
  };
  res.onWritable(() => {
    body.resume();
    return true;
  });
  res.cork(() => {
    writeHead(res, status, contentType, headers);
    res.writeHeader("Connection", "close");
    write(body.first);
  });
  body.start({
    onChunk(chunk) {
      if (!isGone()) res.cork(() => write(chunk));
    },
    onEnd() {
      if (isGone()) return;
      if (!hasRoom) linger();
      // Not closed by the library, which would write a header into the body. The head tells the client to close.
      res.cork(() => {
        res.end();
        finish();
      });
    },
    onFailure() {
      if (!isGone()) res.close();
    },
  });
}

export function isStream(body: Reply["body"]): body is StreamedBody {
  return typeof body === "object" && "start" in body;
}

function statusLine(status: number): string {
  return `${status} ${STATUS_CODES[status] ?? ""}`;
}

const statusLines: Readonly<Record<number, string>> = {
  202: "202 Accepted",
  204: "204 No Content",
  304: "304 Not Modified",
  308: "308 Permanent Redirect",
  400: "400 Bad Request",
  401: "401 Unauthorized",
  402: "402 Payment Required",
  403: "403 Forbidden",
  404: "404 Not Found",
  405: "405 Method Not Allowed",
  409: "409 Conflict",
  413: "413 Content Too Large",
  415: "415 Unsupported Media Type",
  422: "422 Unprocessable Content",
  429: "429 Too Many Requests",
  500: "500 Internal Server Error",
  503: "503 Service Unavailable",
};
