import type { PiecedBody } from "../answer-budget/answer-chunks.ts";
import type { PageHeaders } from "./page-headers.ts";

/** A request's head, as far as the gateway needs it. Counts show a header that was sent twice. */
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
  cacheControl: string | undefined;
  idempotencyKey: string | undefined;
  origin: string | undefined;
  /** `Access-Control-Request-Method` of a preflight. */
  requestedMethod: string | undefined;
  /** On the explorer's paths alone. */
  page: PageHeaders | undefined;
};

export type Reply = {
  status: number;
  contentType?: string;
  /** Besides Content-Type, Content-Length and Date. */
  headers: Readonly<Record<string, string>>;
  /** A string is ASCII, or is to be written as UTF-8. */
  body: Uint8Array | string | PiecedBody | StreamedBody | undefined;
  /** Close the connection after the answer. */
  close?: boolean;
  /** Call it once the body is handed over or dropped: it gives back what a long body holds. */
  release?: () => void;
};

/** A body whose rest is still on its way. It stands still until `start`. After `abort` no callback comes any more. */
export type StreamedBody = {
  first: Uint8Array;
  /** `onEnd` or `onFailure` comes last. */
  start(reader: { onChunk(chunk: Uint8Array): void; onEnd(): void; onFailure(): void }): void;
  pause(): void;
  resume(): void;
  abort(): void;
};

/** The bytes are good until the callback returns. Copy them to keep them. */
export type BodyRead =
  | "too large"
  | "too slow"
  | "stalled"
  | "too many of the key"
  | "too many of the address"
  | "too many"
  | "aborted"
  | Uint8Array;

/** `isClaim`: the body is a claim of the faucet, not calls. Refusals name it so. */
export type BodyLimits = {
  bodyBytesMax: number;
  bodyTimeoutMs: number;
  chunkedBodies: "take" | "refuse";
  chunkedStallMs: number;
  isClaim?: boolean;
};

/**
 * A request whose head has come. Its body is dropped unless `hold` or `readBody` is called before the handler of the
 * exchange returns. An answer that goes out before the end of the body closes the connection after it.
 */
export type Exchange = {
  head: RequestHead;
  /** The whole body, if it came with the head or was held. Good until `handle` returns. */
  arrivedBody(): Uint8Array | undefined;
  /** Keeps the body until its key is known, within a budget that all unknown keys share. */
  hold(limits: BodyLimits): void;
  /** Reads the body of a known key to its end. Call it once at most. */
  readBody(limits: BodyLimits, keyId: string, done: (body: BodyRead) => void): void;
  /** A good key came over this connection, so it is not closed any more to make room for another. */
  prove(): void;
  /** The other end of the socket. */
  peerAddress(): string;
};
