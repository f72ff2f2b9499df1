import { type HeadFields, readHead } from "./response-head.ts";

export type ResponseEvents = {
  onHead(status: number): void;
  /** Bytes of the body, good until this returns: copy them to keep them. `isLast`: nothing follows. */
  onBody(bytes: Buffer, isLast: boolean): void;
  /** The response is whole. */
  onEnd(response: { mayReuse: boolean; keepAliveMs: number | undefined }): void;
};

export type ResponseReader = {
  /** Makes it ready for the response to the next request. */
  expect(): void;
  /** Reads bytes. `malformed`: nothing on this connection can be trusted any more. */
  read(bytes: Buffer): "well" | "malformed";
  /** The connection has ended. `whole`: that was a valid end of the response. */
  close(): "whole" | "cut";
};

const headBytesMax = 16 * 1024;
/** Chunk sizes with their extensions, and trailers. */
const lineBytesMax = 1024;

const lineFeed = 0x0a;
const carriageReturn = 0x0d;

type State =
  /** Nothing is expected: any byte is a fault. */
  | "idle"
  | "head"
  /** `left` bytes of the body, or of a chunk, are still to come. */
  | "body"
  | "chunk"
  | "chunk size"
  | "chunk end"
  | "trailer"
  /** The body ends where the connection does. */
  | "until close";

/**
 * Reads HTTP/1.1 responses (RFC 9112) to POST requests that are sent one after the other. It is strict: what two readers
 * could understand differently is malformed (section 6.3, and section 11.2 on response splitting).
 */
export function createResponseReader(events: ResponseEvents): ResponseReader {
  let state: State = "idle";
  let left = 0;
  /** The beginning of a head or line whose end has not come yet. */
  let pending: Buffer | undefined;
  let head: HeadFields | undefined;

  /** Takes the next part of `bytes` from `at` on. Returns where to go on, or -1 where they are malformed. */
  function step(bytes: Buffer, at: number): number {
    switch (state) {
      case "idle":
        return -1;
      case "head":
        return takeHead(bytes, at);
      case "body":
      case "chunk":
        return takeBody(bytes, at);
      case "until close":
        events.onBody(bytes.subarray(at), false);
        return bytes.length;
      default:
        return takeLine(bytes, at);
    }
  }

  function takeHead(bytes: Buffer, at: number): number {
    const before = pending;
    const all = before === undefined ? bytes.subarray(at) : Buffer.concat([before, bytes.subarray(at)]);
    const end = all.indexOf("\r\n\r\n");
    if (end === -1 || end > headBytesMax) {
      if (all.length > headBytesMax) return -1;
      pending = before === undefined ? Buffer.from(all) : all;
      return bytes.length;
    }
    pending = undefined;
    const fields = readHead(all.toString("latin1", 0, end));
    if (fields === "malformed" || fields.status === 101) return -1;
    const next = at + end + 4 - (before?.length ?? 0);
    // RFC 9110 section 15.2: an interim response comes before the final one, and is skipped.
    return fields.status < 200 ? next : begin(fields, next, bytes.length);
  }

  function begin(fields: HeadFields, at: number, length: number): number {
    head = fields;
    const { status, framing } = fields;
    events.onHead(status);
    if (status === 204 || status === 304 || framing === 0) return finish(at, length);
    if (framing === "chunked") state = "chunk size";
    else if (framing === "until close") state = "until close";
    else {
      state = "body";
      left = framing;
    }
    return at;
  }

  function takeBody(bytes: Buffer, at: number): number {
    const end = Math.min(bytes.length, at + left);
    left -= end - at;
    const isLast = state === "body" && left === 0;
    // Checked first, because bytes behind a whole response make all of it untrusted.
    if (isLast && end < bytes.length) return -1;
    events.onBody(bytes.subarray(at, end), isLast);
    if (isLast) return finish(end, bytes.length);
    if (left === 0) state = "chunk end";
    return end;
  }

  function takeLine(bytes: Buffer, at: number): number {
    const end = bytes.indexOf(lineFeed, at);
    const part = bytes.subarray(at, end === -1 ? bytes.length : end);
    const line = pending === undefined ? part : Buffer.concat([pending, part]);
    if (line.length > lineBytesMax) return -1;
    if (end === -1) {
      pending = Buffer.from(line);
      return bytes.length;
    }
    pending = undefined;
    if (line.at(-1) !== carriageReturn) return -1;
    return takeWholeLine(line.toString("latin1", 0, line.length - 1), end + 1, bytes.length);
  }

  function takeWholeLine(line: string, at: number, length: number): number {
    if (state === "chunk end") {
      state = "chunk size";
      return line === "" ? at : -1;
    }
    if (state === "trailer") return line === "" ? finish(at, length) : at;
    const size = /^([0-9a-f]{1,8})[ \t]*(?:;.*)?$/i.exec(line)?.[1];
    if (size === undefined) return -1;
    left = Number.parseInt(size, 16);
    state = left === 0 ? "trailer" : "chunk";
    return at;
  }

  function finish(at: number, length: number): number {
    if (at < length) return -1;
    state = "idle";
    // The listener may expect the next response at once.
    events.onEnd({ mayReuse: head?.mayReuse === true, keepAliveMs: head?.keepAliveMs });
    return at;
  }

  return {
    expect() {
      state = "head";
      pending = undefined;
      head = undefined;
    },
    read(bytes) {
      let at = 0;
      while (at !== -1 && at < bytes.length) at = step(bytes, at);
      return at === -1 ? "malformed" : "well";
    },
    close() {
      if (state !== "until close") return "cut";
      state = "idle";
      events.onBody(Buffer.alloc(0), true);
      events.onEnd({ mayReuse: false, keepAliveMs: undefined });
      return "whole";
    },
  };
}
