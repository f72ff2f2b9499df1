import { createChunks, type PiecedBody } from "../../answer-budget/answer-chunks.ts";
import type { ReaderWatch } from "../../answer-budget/reader-watch.ts";

/** The part of a socket that the outbox uses. The library keeps what it cannot send at once, and reports when it has less. */
export type OutboxSocket = {
  send(message: Uint8Array | string): void;
  /** A part of one long message (RFC 6455 section 5.4), or all of it. False where the client has to read first. */
  sendPart(part: Uint8Array, place: "first" | "middle" | "last" | "whole"): boolean;
  bufferedBytes(): number;
  close(): void;
};

type Long = {
  bytes: number;
  chunks: ReturnType<typeof createChunks>;
  isBegun: boolean;
  onGone: () => void;
  /** Set from when its client has to read first. */
  unwatch: (() => void) | undefined;
};
type Waiting = Long | Uint8Array | string;

/** The library gets the next part of a long message when it holds less than this. */
const bufferedBytesMax = 64 * 1024;

/**
 * The messages to one client, in order. A long one leaves in parts, as fast as the client reads, because the library would
 * copy all of it. The messages behind it wait here.
 */
export function createOutbox({
  socket,
  readers,
}: {
  socket: OutboxSocket;
  readers: Pick<ReaderWatch, "watch">;
}) {
  let waiting: Waiting[] = [];
  /** Bytes of all that waits, except for the long message that is being sent. */
  let bytesBehind = 0;
  /** The same without long messages, which the answer budget counts. */
  let shortBytes = 0;
  let isClosed = false;

  function pump(): void {
    for (let next = waiting[0]; next !== undefined && !isClosed; next = waiting[0]) {
      if (!isLong(next)) socket.send(next);
      else if (!sendParts(next)) {
        watch(next);
        return;
      }
      waiting.shift();
      if (!isLong(next)) shortBytes -= next.length;
      if (waiting[0] !== undefined) bytesBehind -= bytesOf(waiting[0]);
    }
  }

  /** False where the client has to read first. */
  function sendParts(message: Long): boolean {
    for (;;) {
      if (socket.bufferedBytes() >= bufferedBytesMax) return false;
      const part = message.chunks.next();
      if (part === undefined) break;
      const isLast = message.chunks.leftBytes() === 0;
      const isSent = socket.sendPart(part, placeOf(message, isLast));
      message.isBegun = true;
      if (isLast) break;
      if (!isSent) return false;
    }
    message.unwatch?.();
    message.onGone();
    return true;
  }

  function watch(message: Long): void {
    message.unwatch ??= readers.watch({
      takenBytes: () => message.bytes - message.chunks.leftBytes(),
      close: () => socket.close(),
    });
  }

  function push(message: Waiting): void {
    if (waiting.length > 0) bytesBehind += bytesOf(message);
    if (!isLong(message)) shortBytes += message.length;
    waiting.push(message);
  }

  return {
    /** Copies the message before it returns. */
    send(message: Uint8Array | string): void {
      if (waiting.length === 0) socket.send(message);
      else push(typeof message === "string" ? message : Uint8Array.from(message));
    },

    /** `onGone` is called once, when its last byte is the library's or the socket is closed. */
    sendLong(body: PiecedBody, onGone: () => void): void {
      const isFirst = waiting.length === 0;
      push({ bytes: body.bytes, chunks: createChunks(body), isBegun: false, onGone, unwatch: undefined });
      if (isFirst) pump();
    },

    /** The client has read. Not within the library's callback: it never reports a socket that fills again in there. */
    drained(): void {
      if (waiting.length > 0) setImmediate(pump);
    },

    /** What waits for the client to read, but for a long message that is being sent. */
    waitingBytes: () => socket.bufferedBytes() + bytesBehind,

    /** What of it is counted nowhere else. */
    uncountedBytes: () => socket.bufferedBytes() + shortBytes,

    closed(): void {
      isClosed = true;
      const left = waiting;
      waiting = [];
      for (const message of left) {
        if (!isLong(message)) continue;
        message.unwatch?.();
        message.onGone();
      }
    },
  };
}

function placeOf({ isBegun }: Long, isLast: boolean): "first" | "middle" | "last" | "whole" {
  if (isLast) return isBegun ? "last" : "whole";
  return isBegun ? "middle" : "first";
}

function isLong(message: Waiting): message is Long {
  return typeof message === "object" && "chunks" in message;
}

function bytesOf(message: Waiting): number {
  return isLong(message) ? message.bytes : message.length;
}
