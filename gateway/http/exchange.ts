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

/** The bytes are good until the callback that gets them returns: whoever needs them longer copies them. */
export type BodyRead = "too large" | "too slow" | "aborted" | Uint8Array;

export type Exchange = {
  head: RequestHead;
  /**
   * Reads the body to its end. To be called at most once, before whoever handles the exchange returns: uWebSockets.js
   * drops what nobody listens for. So an answer may go out without it, even while the body still comes.
   */
  readBody(limits: { bodyBytesMax: number; bodyTimeoutMs: number }, done: (body: BodyRead) => void): void;
  /** The other end of the socket; empty where it is gone. */
  peerAddress(): string;
};
