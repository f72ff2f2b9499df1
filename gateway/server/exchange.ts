import type { PiecedBody } from "../answer-budget/answer-chunks.ts";

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
  /** Has to be called once the body is handed over or dropped: gives back what a long one holds. */
  release?: () => void;
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

/** The bytes are good until the callback that gets them returns. To keep them is to copy them. */
export type BodyRead =
  | "too large"
  | "too slow"
  | "stalled"
  | "too many of the key"
  | "too many of the address"
  | "too many"
  | "aborted"
  | Uint8Array;

/** `isClaim`: the body is a claim of the faucet, not calls. Refusals are worded by it. */
export type BodyLimits = {
  bodyBytesMax: number;
  bodyTimeoutMs: number;
  chunkedBodies: "take" | "refuse";
  chunkedStallMs: number;
  isClaim?: boolean;
};

/**
 * A request whose head is there. What comes of its body is dropped unless `hold` or `readBody` is called before whoever
 * handles the exchange returns. An answer that goes out before the body's end closes the connection after it.
 */
export type Exchange = {
  head: RequestHead;
  /** The whole body, where it is there: it came with the head, or was held. Good until `handle` returns. */
  arrivedBody(): Uint8Array | undefined;
  /** Keeps what comes of the body until it is known whose it is, within a budget that all strangers share. */
  hold(limits: BodyLimits): void;
  /** Reads the body of the key's owner to its end. At most once. */
  readBody(limits: BodyLimits, keyId: string, done: (body: BodyRead) => void): void;
  /** A good key came over this connection: it is not closed any more to make room for another. */
  prove(): void;
  /** The other end of the socket. */
  peerAddress(): string;
};
