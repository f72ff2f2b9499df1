import { connect } from "node:net";

/** What is sent: text (one byte a character), bytes, or a pause in milliseconds. */
export type RawPiece = string | Uint8Array | { pauseMs: number };

export type RawResponse = { status: number; headers: Readonly<Record<string, string>>; body: string };

export type RawOutcome = {
  /** Everything that came, one character a byte. */
  text: string;
  responses: RawResponse[];
  /** Of the first response; undefined where none came. */
  status: number | undefined;
  /** Undefined: the connection was still open when the outcome was taken. */
  closedAfterMs: number | undefined;
};

/**
 * Sends bytes that no HTTP client would send and tells what came back. Resolves when `responses` whole ones have come
 * (never, where that is 0) or the connection is closed, at the latest after `waitMs`; closes the connection.
 *
 * `afterwards` tells what the client does once all is sent: keeps the connection open, says that it has finished
 * (FIN), or goes away (RST). A client that `readsLast` looks at nothing that comes before all of its own is sent.
 */
export async function rawRequest(
  port: number,
  sent: RawPiece | readonly RawPiece[],
  {
    waitMs = 5000,
    responses = 1,
    afterwards = "stay",
    readsLast = false,
  }: {
    waitMs?: number;
    responses?: number;
    afterwards?: "stay" | "finish" | "reset";
    readsLast?: boolean;
  } = {},
): Promise<RawOutcome> {
  const socket = connect({ port, host: "127.0.0.1", noDelay: true, allowHalfOpen: true });
  const started = performance.now();
  const chunks: Buffer[] = [];
  let closedAfterMs: number | undefined;

  if (readsLast) socket.pause();
  const settled = new Promise<void>((resolve) => {
    const timer = setTimeout(resolve, waitMs);
    const close = () => {
      closedAfterMs ??= performance.now() - started;
      clearTimeout(timer);
      resolve();
    };
    socket.on("data", (chunk: Buffer) => {
      chunks.push(chunk);
      if (responses === 0 || readResponses(textOf(chunks)).length < responses) return;
      clearTimeout(timer);
      resolve();
    });
    socket.on("end", close);
    socket.on("close", close);
    // A connection that the other side resets is a closed one, which is what the outcome tells.
    socket.on("error", close);
  });

  for (const piece of isList(sent) ? sent : [sent]) {
    if (closedAfterMs !== undefined) break;
    if (typeof piece === "string") socket.write(piece, "latin1");
    else if (piece instanceof Uint8Array) socket.write(piece);
    else await Promise.race([settled, new Promise((resolve) => setTimeout(resolve, piece.pauseMs))]);
  }
  if (readsLast) {
    const allSent = new Promise((resolve) => socket.write("", resolve));
    await Promise.race([settled, allSent]);
    socket.resume();
  }
  if (afterwards === "finish") socket.end();
  if (afterwards === "reset") socket.resetAndDestroy();
  await settled;
  socket.destroy();
  const text = textOf(chunks);
  const read = readResponses(text);
  return { text, responses: read, status: read[0]?.status, closedAfterMs };
}

/** A POST as the gateway takes it; `headers` replace or, where undefined, take away a line of the head. */
export function rawPost({
  key,
  body,
  headers = {},
  more = [],
  target = "/",
}: {
  key: string;
  body: string;
  headers?: Readonly<Record<string, string | undefined>>;
  /** Whole header lines to put at the end of the head, for names that come twice. */
  more?: readonly string[];
  target?: string;
}): string {
  const all = {
    Host: "127.0.0.1",
    "X-API-Key": key,
    "Content-Type": "application/json",
    "Content-Length": String(Buffer.byteLength(body, "latin1")),
    ...headers,
  };
  const lines = Object.entries(all).flatMap(([name, value]) =>
    value === undefined ? [] : [`${name}: ${value}`],
  );
  return `${[`POST ${target} HTTP/1.1`, ...lines, ...more].join("\r\n")}\r\n\r\n${body}`;
}

/** The whole responses at the beginning of what came. Interim ones (1xx) are left out. */
function readResponses(text: string): RawResponse[] {
  const responses: RawResponse[] = [];
  let at = 0;
  for (;;) {
    const headEnd = text.indexOf("\r\n\r\n", at);
    if (headEnd === -1) return responses;
    const [statusLine = "", ...lines] = text.slice(at, headEnd).split("\r\n");
    const status = Number(/^HTTP\/1\.1 (\d{3}) /.exec(statusLine)?.[1]);
    const headers: Record<string, string> = {};
    for (const line of lines) {
      const colon = line.indexOf(":");
      headers[line.slice(0, colon).toLowerCase()] = line.slice(colon + 1).trim();
    }
    const bodyStart = headEnd + 4;
    if (headers["transfer-encoding"] === "chunked") {
      const chunked = readChunks(text, bodyStart);
      if (chunked === undefined) return responses;
      responses.push({ status, headers, body: chunked.body });
      at = chunked.end;
      continue;
    }
    const declared = headers["content-length"];
    // Without a length the body lasts until the connection is closed (RFC 9112 section 6.3), except where there is none.
    const isBodiless = status === 204 || status === 304 || status < 200;
    const length = isBodiless ? 0 : declared === undefined ? text.length - bodyStart : Number(declared);
    if (text.length < bodyStart + length) return responses;
    if (status >= 200) responses.push({ status, headers, body: text.slice(bodyStart, bodyStart + length) });
    at = bodyStart + length;
  }
}

/** A body in chunks (RFC 9112 section 7.1); undefined where its last chunk has not come. */
function readChunks(text: string, start: number): { body: string; end: number } | undefined {
  const parts: string[] = [];
  for (let at = start; ; ) {
    const lineEnd = text.indexOf("\r\n", at);
    const length = Number.parseInt(text.slice(at, lineEnd), 16);
    const end = lineEnd + 2 + length + 2;
    if (lineEnd === -1 || end > text.length) return undefined;
    if (length === 0) return { body: parts.join(""), end };
    parts.push(text.slice(lineEnd + 2, lineEnd + 2 + length));
    at = end;
  }
}

function textOf(chunks: readonly Buffer[]): string {
  return Buffer.concat(chunks).toString("latin1");
}

function isList(sent: RawPiece | readonly RawPiece[]): sent is readonly RawPiece[] {
  return Array.isArray(sent);
}
