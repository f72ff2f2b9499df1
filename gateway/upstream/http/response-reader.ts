import { createLineReader, readChunkSize } from "./line-reader.ts";
import { createHeadReader, type HeadFields } from "./response-head.ts";

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
  const heads = createHeadReader();
  const lines = createLineReader();

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
    const next = heads.take(bytes, at);
    const fields = heads.fields();
    // RFC 9110 section 15.2: an interim response comes before the final one, and is skipped.
    return fields === undefined || fields.status < 200 ? next : begin(fields, next, bytes.length);
  }

  function begin({ status, framing }: HeadFields, at: number, length: number): number {
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
    const next = lines.take(bytes, at);
    const line = lines.line();
    if (line === undefined) return next;
    if (state === "trailer") return line === "" ? finish(next, bytes.length) : next;
    if (state === "chunk end") {
      state = "chunk size";
      return line === "" ? next : -1;
    }
    const size = readChunkSize(line);
    if (size === undefined) return -1;
    left = size;
    state = left === 0 ? "trailer" : "chunk";
    return next;
  }

  function finish(at: number, length: number): number {
    if (at < length) return -1;
    state = "idle";
    // The listener may expect the next response at once.
    const head = heads.fields();
    events.onEnd({ mayReuse: head?.mayReuse === true, keepAliveMs: head?.keepAliveMs });
    return at;
  }

  return {
    expect() {
      state = "head";
      heads.clear();
      lines.clear();
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
