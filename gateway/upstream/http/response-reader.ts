import { type HeadFields, readHead } from "./response-head.ts";

export type ResponseEvents = {
  onHead(status: number): void;
  /** Bytes of the body. They are good until this returns: who keeps them copies them. `isLast`: nothing follows. */
  onBody(bytes: Buffer, isLast: boolean): void;
  /** The response is whole. */
  onEnd(response: { mayReuse: boolean; keepAliveMs: number | undefined }): void;
};

export type ResponseReader = {
  /** Makes it ready for the response to the next request. */
  expect(): void;
  /** Reads what came. `malformed`: nothing on this connection can be believed any more. */
  read(bytes: Buffer): "well" | "malformed";
  /** The connection has ended. Whether that ended a response as it may. */
  close(): "whole" | "cut";
};

const headBytesMax = 16 * 1024;
/** Chunk sizes with their extensions, and trailers. */
const lineBytesMax = 1024;

const lineFeed = 0x0a;
const carriageReturn = 0x0d;

type State =
  /** Nothing is expected: whatever comes is a fault. */
  | "idle"
  | "head"
  /** So many bytes of the body, or of a chunk, are still to come. */
  | "body"
  | "chunk"
  | "chunk size"
  | "chunk end"
  | "trailer"
  /** The body ends where the connection does. */
  | "until close";

/**
 * Reads HTTP/1.1 responses (RFC 9112) to requests that are sent one after the other, and only ever POST. Strict: what two
 * readers could understand differently is malformed (section 6.3, and section 11.2 on response splitting).
 */
export function createResponseReader(events: ResponseEvents): ResponseReader {
  let state: State = "idle";
  let left = 0;
  /** The beginning of a head or of a line, whose end has not come yet. */
  let pending: Buffer | undefined;
  let head: HeadFields | undefined;

  /** Takes the next of `bytes` from `at` on; the place where to go on, or -1 where they are malformed. */
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
    // RFC 9110 section 15.2: what comes before the final response says nothing to whoever did not ask for it.
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
    // Before anything of it is believed: nothing may follow a whole response that was not asked for.
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
    // Whoever is told may expect the next response at once.
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
