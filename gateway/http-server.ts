import {
  App,
  type HttpRequest,
  type HttpResponse,
  type us_listen_socket,
  us_listen_socket_close,
  us_socket_local_port,
} from "uWebSockets.js";

declare module "uWebSockets.js" {
  interface TemplatedApp {
    /** The library has this form; its typings leave it out. */
    listen(
      host: string,
      port: number,
      options: number,
      listening: (socket: us_listen_socket | false) => void,
    ): TemplatedApp;
  }
}
/** The library's LIBUS_LISTEN_EXCLUSIVE_PORT. */
const exclusivePort = 1;

/** What the gateway needs to know of a request's head. Counts tell a header that was sent twice. */
export type RequestHead = {
  /** Upper case. */
  method: string;
  path: string;
  query: string;
  apiKey: string | undefined;
  apiKeyCount: number;
  hostCount: number;
  contentLength: string | undefined;
  contentLengthCount: number;
  transferEncodings: string | undefined;
  contentType: string | undefined;
  contentTypeCount: number;
  contentEncoding: string | undefined;
  forwardedFor: string | undefined;
};

export type Reply = {
  status: number;
  /** Besides Content-Length and Date, which the server writes. */
  headers: Readonly<Record<string, string>>;
  body: Uint8Array | string | StreamedBody | undefined;
  /** Close the connection after the answer. */
  close?: boolean;
};

/** A body whose rest is still on its way. It stands still until `start`; after `abort` nothing is called any more. */
export type StreamedBody = {
  first: Uint8Array;
  /** `onEnd` or `onFailure` comes last. */
  start(reader: { onChunk(chunk: Uint8Array): void; onEnd(): void; onFailure(): void }): void;
  pause(): void;
  resume(): void;
  abort(): void;
};

export type BodyRead = "too large" | "too slow" | "aborted" | Uint8Array;

export type Exchange = {
  head: RequestHead;
  /**
   * Reads the body to its end. To be called at most once, before the first `await` of whoever handles the exchange:
   * uWebSockets.js drops what nobody listens for. So an answer may go out without it, even while the body still comes.
   */
  readBody(limits: { bodyBytesMax: number; bodyTimeoutMs: number }): Promise<BodyRead>;
  /** The other end of the socket; empty where it is gone. */
  peerAddress(): string;
};

export type HttpServer = {
  host: string;
  port: number;
  /** Stops listening, lets answers on their way go out, and closes what is left after `timeoutMs`. */
  stop(options: { timeoutMs: number }): Promise<void>;
};

/**
 * HTTP over uWebSockets.js; the only file that knows it. `handle` gets each request and gives its answer; it must not
 * throw.
 *
 * The port is taken exclusively: the library's default (SO_REUSEPORT) would let a second gateway share it in silence.
 * The library closes connections whose head stalls for 10 s or whose body comes in at less than 16 KB a second.
 *
 * @throws Error where the port is taken.
 */
export async function startHttpServer({
  host,
  port,
  handle,
}: {
  host: string;
  port: number;
  handle: (exchange: Exchange) => Promise<Reply>;
}): Promise<HttpServer> {
  let inFlight = 0;
  let connections = 0;
  let stopping = false;
  let onChange = () => {};
  let lingersUntilMs = 0;
  const linger = () => {
    lingersUntilMs = performance.now() + lingerMs;
  };

  const app = App();
  const countConnection = (_res: HttpResponse, opened: number) => {
    connections += opened;
    onChange();
  };
  app.filter(countConnection);
  app.any("/*", (res, req) => {
    let aborted = false;
    let onAbort = () => {};
    inFlight += 1;
    let finished = false;
    const finish = () => {
      if (finished) return;
      finished = true;
      inFlight -= 1;
      onChange();
    };
    res.onAborted(() => {
      aborted = true;
      onAbort();
    });
    const head = readHead(req);
    const exchange: Exchange = {
      head,
      readBody: (limits) =>
        collectBody({
          res,
          ...limits,
          onAbort: (listener) => {
            onAbort = listener;
          },
        }),
      peerAddress: () => (aborted ? "" : Buffer.from(res.getRemoteAddressAsText()).toString()),
    };
    handle(exchange).then((reply) => {
      if (aborted) {
        if (isStream(reply.body)) reply.body.abort();
        finish();
        return;
      }
      // An answer counts as on its way until its last byte is handed to the kernel, or nobody wants it any more.
      const { body } = reply;
      onAbort = () => {
        if (isStream(body)) body.abort();
        finish();
      };
      const close = stopping || reply.close === true;
      if (isStream(body)) {
        writeStream({ res, reply, body, isGone: () => aborted, finish, linger });
      } else {
        writeReply({
          res,
          reply,
          body,
          close,
          isHead: head.method === "HEAD",
          finish,
        });
      }
    });
  });

  const socket = await new Promise<us_listen_socket | false>((listening) => {
    app.listen(host, port, exclusivePort, listening);
  });
  if (socket === false) throw new Error(`${host}:${port} cannot be listened on: the port is taken`);

  return {
    host,
    port: us_socket_local_port(socket),
    async stop({ timeoutMs }) {
      stopping = true;
      us_listen_socket_close(socket);
      // What the library still holds of an answer that was streamed is out when its connection has closed.
      const isDone = () => inFlight === 0 && (connections === 0 || performance.now() > lingersUntilMs);
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, timeoutMs);
        onChange = () => {
          if (!isDone()) return;
          clearTimeout(timer);
          resolve();
        };
        onChange();
      });
      app.close();
    },
  };
}

/** Headers are read in a loop because that alone shows one that came twice; `getHeader` gives the first. */
function readHead(req: HttpRequest): RequestHead {
  const head: RequestHead = {
    method: req.getCaseSensitiveMethod(),
    path: req.getUrl(),
    query: req.getQuery() ?? "",
    apiKey: undefined,
    apiKeyCount: 0,
    hostCount: 0,
    contentLength: undefined,
    contentLengthCount: 0,
    transferEncodings: undefined,
    contentType: undefined,
    contentTypeCount: 0,
    contentEncoding: undefined,
    forwardedFor: undefined,
  };
  req.forEach((name, value) => {
    switch (name) {
      case "x-api-key":
        head.apiKey = value;
        head.apiKeyCount += 1;
        break;
      case "host":
        head.hostCount += 1;
        break;
      case "content-length":
        head.contentLength = value;
        head.contentLengthCount += 1;
        break;
      case "transfer-encoding":
        head.transferEncodings =
          head.transferEncodings === undefined ? value : `${head.transferEncodings}, ${value}`;
        break;
      case "content-type":
        head.contentType = value;
        head.contentTypeCount += 1;
        break;
      case "content-encoding":
        head.contentEncoding =
          head.contentEncoding === undefined ? value : `${head.contentEncoding}, ${value}`;
        break;
      case "x-forwarded-for":
        head.forwardedFor = head.forwardedFor === undefined ? value : `${head.forwardedFor}, ${value}`;
        break;
    }
  });
  return head;
}

function collectBody({
  res,
  bodyBytesMax,
  bodyTimeoutMs,
  onAbort,
}: {
  res: HttpResponse;
  bodyBytesMax: number;
  bodyTimeoutMs: number;
  onAbort: (listener: () => void) => void;
}): Promise<BodyRead> {
  return new Promise((resolve) => {
    let chunks: Buffer[] = [];
    let bytes = 0;
    let timer: NodeJS.Timeout | undefined;
    let settled = false;
    const settle = (read: BodyRead) => {
      settled = true;
      chunks = [];
      clearTimeout(timer);
      resolve(read);
    };
    onAbort(() => settle("aborted"));
    res.onData((chunk, isLast) => {
      if (settled) return;
      bytes += chunk.byteLength;
      if (bytes > bodyBytesMax) return settle("too large");
      // The library takes the memory back when this callback returns, hence a copy.
      const copy = Buffer.from(Buffer.from(chunk));
      if (isLast) return settle(chunks.length === 0 ? copy : Buffer.concat([...chunks, copy], bytes));
      chunks.push(copy);
      timer ??= setTimeout(() => settle("too slow"), bodyTimeoutMs);
    });
  });
}

/** What the library takes in one piece; of a larger body it is given more as the client reads. */
const pieceBytesMax = 64 * 1024;

function writeReply({
  res,
  reply: { status, headers },
  body,
  close,
  isHead,
  finish,
}: {
  res: HttpResponse;
  reply: Reply;
  body: Uint8Array | string | undefined;
  close: boolean;
  /** RFC 9110 section 9.3.2: the head of the answer alone. */
  isHead: boolean;
  finish: () => void;
}): void {
  const bytes = typeof body === "string" ? Buffer.from(body) : body;
  const isLarge = bytes !== undefined && bytes.length > pieceBytesMax && !isHead;
  res.cork(() => {
    res.writeStatus(statusLines[status] ?? String(status));
    for (const name in headers) res.writeHeader(name, headers[name] ?? "");
    if (bytes === undefined) {
      if (close) res.writeHeader("Connection", "close");
      // Any argument, even undefined, would become a Content-Length, which RFC 9110 section 8.6 forbids beside a 204.
      res.endWithoutBody();
    } else if (isHead) {
      // With the length as its argument the library would close the connection after it.
      res.writeHeader("Content-Length", String(bytes.length)).endWithoutBody();
    } else if (!isLarge) {
      res.end(bytes, close);
    } else if (close) {
      res.writeHeader("Connection", "close");
    }
  });
  if (isLarge) writeLarge({ res, bytes, finish });
  else finish();
}

/**
 * Hands a body over as fast as the client reads it. With its last byte the response is the library's again: touching it
 * then throws, and a connection that should close does so at the latest when the server stops.
 */
function writeLarge({
  res,
  bytes,
  finish,
}: {
  res: HttpResponse;
  bytes: Uint8Array;
  finish: () => void;
}): void {
  const [, isDone] = res.tryEnd(bytes, bytes.length);
  if (isDone) {
    finish();
    return;
  }
  res.onWritable((offset) => {
    const [more, isNowDone] = res.tryEnd(bytes.subarray(offset), bytes.length);
    if (isNowDone) finish();
    return more;
  });
}

/** For how long the library may hold the rest of a stream for a slow reader, as far as a stop waits for it. */
const lingerMs = 30_000;

/**
 * Passes a stream on at the pace of its reader. One that breaks off ends in a reset: its end must not look whole.
 *
 * What the library could not hand to the kernel it holds, and pushes on with the next piece or the end; it never tells
 * when all is out. So a stream's connection ends with it, and a stop waits for that (`linger`).
 */
function writeStream({
  res,
  reply: { status, headers },
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
    res.writeStatus(statusLines[status] ?? String(status));
    for (const name in headers) res.writeHeader(name, headers[name] ?? "");
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
      // Asked to close, the library would write a header into the body: the client closes, since the head tells it to.
      res.cork(() => res.end());
      finish();
    },
    onFailure() {
      if (!isGone()) res.close();
    },
  });
}

function isStream(body: Reply["body"]): body is StreamedBody {
  return typeof body === "object" && "start" in body;
}

/** The library writes "200 OK" by itself; every other status needs its words. */
const statusLines: Readonly<Record<number, string>> = {
  200: "200 OK",
  202: "202 Accepted",
  204: "204 No Content",
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
