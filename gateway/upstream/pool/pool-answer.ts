import { type Answer, type ByteText, ownAnswer } from "../../json-rpc/answer.ts";

/** A validator's whole answer. */
export type WholeAnswer = Answer & {
  /** Whether the text may also be written as UTF-8, as it stands: each of its characters is one byte below 0x80. */
  isAscii: boolean;
  /** Name of who gave it; empty where it is no validator's own. */
  validator: string;
  /** That validator had the announced block when it was asked: what it said of blocks up to there is whole. */
  wasAtHead: boolean;
};

/**
 * A long answer on its way. Joined, `beforeId`, the client's id, `afterId` and every chunk are the response object, byte
 * for byte as the validator wrote it. It stands still until `start`. Whoever takes it must either start it or abort it.
 */
export type StreamedAnswer = {
  beforeId: ByteText;
  /** What had come when the answer was found to be long. */
  afterId: Buffer;
  /** Lets it flow. One of `onEnd` and `onFailure` is called at last, unless it is aborted. */
  start(reader: StreamReader): void;
  /** Bytes stop at the validator; what the socket had already read may still come. */
  pause(): void;
  resume(): void;
  /** The client is gone: the connection to the validator is closed and nothing is called any more. */
  abort(): void;
};

export type StreamReader = {
  onChunk(chunk: Buffer): void;
  onEnd(): void;
  /**
   * The rest will not come: the client's connection has to be reset, since part of the answer has been written. `isBroken`:
   * it is the validator that broke off; otherwise its reader was too slow.
   */
  onFailure(isBroken: boolean): void;
};

/** An answer of our own; `resultText` is JSON in ASCII. */
export function ownWholeAnswer(resultText: string): WholeAnswer {
  return { ...ownAnswer(resultText), isAscii: true, validator: "", wasAtHead: false };
}

export function isStreamed(answer: WholeAnswer | StreamedAnswer): answer is StreamedAnswer {
  return "start" in answer;
}

/** How each validator of this network begins its answers, up to the id. */
export const usualBeforeId = '{"jsonrpc":"2.0","id":';
