import { isIP, connect as netConnect, type Socket } from "node:net";
import { connect as tlsConnect } from "node:tls";
import { createResponseReader, type ResponseReader } from "./response-reader.ts";

export type HttpTarget = {
  /** `http://host:port` or `https://host:port`. */
  origin: string;
  path: string;
  /** Besides Host and Content-Length: name, value, name, value … */
  headers: readonly string[];
  connectTimeoutMs: number;
};

/** How a request ends without a response. */
export type HttpFailure =
  /** No connection could be made. */
  | "connect"
  /** The connection ended before the response did. */
  | "closed"
  /** The bytes are not valid HTTP. */
  | "malformed";

export type HttpEvents = {
  /** The kernel has bytes of the request. */
  onSent(): void;
  onHead(status: number): void;
  /** The bytes are good until this returns. `isLast`: nothing follows. */
  onBody(bytes: Buffer, isLast: boolean): void;
  onEnd(): void;
  onFailure(failure: HttpFailure): void;
};

export type HttpConnection = {
  /** Sends a request, one character of `body` a byte. The one before must have ended or been dropped. */
  post(body: string): void;
  /** Stops the response's bytes until `resume`. */
  pause(): void;
  resume(): void;
  /** Closes it and reports nothing of the request under way. The next request makes a new connection. */
  drop(): void;
};

/** After so long idle it is not used again. A server that closes earlier may say so in its head. */
const keepAliveMsMax = 60_000;
/** So much earlier than the server's own time, because a request may cross the end on its way. */
const keepAliveMarginMs = 1000;

// Bytes are handled before the next read begins, on any connection. So all connections share one buffer.
const readBuffer = Buffer.allocUnsafeSlow(64 * 1024);

/**
 * One connection to a validator, with one request at a time and no queue. A general client took more time for each array than
 * everything else that the gateway does for its calls (DECISIONS.md). The connection is made when it is first used, and made
 * anew when it was closed meanwhile.
 */
export function createHttpConnection({
  target,
  now,
  events,
}: {
  target: HttpTarget;
  now: () => number;
  events: HttpEvents;
}): HttpConnection {
  const requestHead = headOf(target);
  let line: Line | undefined;
  let isBusy = false;
  let idleSinceMs = 0;
  let idleMsMax = keepAliveMsMax;

  /** Each socket has a reader of its own, so late bytes of a dropped socket never count for another one. */
  function open(): Line {
    const isOurs = () => line === opened;
    const reader = createResponseReader({
      onHead(status) {
        if (isOurs()) events.onHead(status);
      },
      onBody(bytes, isLast) {
        if (isOurs()) events.onBody(bytes, isLast);
      },
      onEnd({ mayReuse, keepAliveMs = Number.POSITIVE_INFINITY }) {
        if (!isOurs()) return;
        isBusy = false;
        idleSinceMs = now();
        idleMsMax = Math.min(keepAliveMsMax, keepAliveMs - keepAliveMarginMs);
        if (!mayReuse) close();
        events.onEnd();
      },
    });
    const socket = connectTo(target, (bytes) => {
      // Without a request under way only the connection has to go.
      if (isOurs() && reader.read(bytes) === "malformed" && isOurs()) end("malformed");
    });
    const opened: Line = { socket, reader, isConnected: false };
    const timer = setTimeout(() => socket.destroy(), target.connectTimeoutMs);
    socket.once(isSecure(target) ? "secureConnect" : "connect", () => {
      clearTimeout(timer);
      opened.isConnected = true;
      if (isOurs() && isBusy) events.onSent();
    });
    // 'close' follows and is handled below.
    let hadError = false;
    socket.on("error", () => {
      hadError = true;
    });
    socket.once("close", () => {
      clearTimeout(timer);
      if (!isOurs() || (isBusy && !hadError && reader.close() === "whole")) return;
      end(opened.isConnected ? "closed" : "connect");
    });
    return opened;
  }

  function close(): void {
    const closed = line;
    line = undefined;
    closed?.socket.destroy();
  }

  function end(failure: HttpFailure): void {
    const wasBusy = isBusy;
    isBusy = false;
    close();
    if (wasBusy) events.onFailure(failure);
  }

  return {
    post(body) {
      if (line !== undefined && now() - idleSinceMs > idleMsMax) close();
      line ??= open();
      isBusy = true;
      const { socket, reader, isConnected } = line;
      reader.expect();
      socket.write(`${requestHead}${body.length}\r\n\r\n${body}`, "latin1");
      if (isConnected) events.onSent();
    },
    pause() {
      line?.socket.pause();
    },
    resume() {
      line?.socket.resume();
    },
    drop() {
      isBusy = false;
      close();
    },
  };
}

/** A socket and the reader of its bytes. */
type Line = { readonly socket: Socket; readonly reader: ResponseReader; isConnected: boolean };

function connectTo(target: HttpTarget, onBytes: (bytes: Buffer) => void): Socket {
  const { hostname, port } = new URL(target.origin);
  const host = hostname.replace(/^\[(.*)\]$/, "$1");
  const defaultPort = isSecure(target) ? 443 : 80;
  const options = {
    host,
    port: port === "" ? defaultPort : Number(port),
    noDelay: true,
    keepAlive: true,
    onread: {
      buffer: readBuffer,
      callback(bytes: number) {
        onBytes(readBuffer.subarray(0, bytes));
        return true;
      },
    },
  };
  // RFC 6066 section 3: an IP address is not a server name.
  return isSecure(target)
    ? tlsConnect({ ...options, ...(isIP(host) === 0 ? { servername: host } : {}) })
    : netConnect(options);
}

function isSecure({ origin }: HttpTarget): boolean {
  return origin.startsWith("https:");
}

function headOf({ origin, path, headers }: HttpTarget): string {
  let text = `POST ${path} HTTP/1.1\r\nHost: ${new URL(origin).host}\r\n`;
  for (let index = 0; index + 1 < headers.length; index += 2)
    text += `${headers[index]}: ${headers[index + 1]}\r\n`;
  return `${text}Content-Length: `;
}
