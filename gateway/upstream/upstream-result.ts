import { type Answer, type ByteText, ownAnswer } from "../json-rpc/answer.ts";

/** What comes back from an upstream call: a whole answer, a long one as a stream, or why there is none. */
export type UpstreamResult = WholeAnswer | StreamedAnswer | Unanswered;

/** Is called once for a call, perhaps before the function returns that takes it, and must not throw. */
export type Settle = (result: UpstreamResult) => void;

export type CallOptions = {
  /** Whose call it is, the key's id: the calls of one key are bounded. */
  group: string;
  /** Whether a long answer may come as a stream. */
  mayStream: boolean;
  /** What is left of the method's time. */
  timeoutMs?: number;
};

/** A validator's whole answer. */
export type WholeAnswer = Answer & {
  /** Whether the text may also be written as UTF-8, as it stands: each of its characters is one byte below 0x80. */
  isAscii: boolean;
  /** The name of the validator that gave it; empty for an answer of our own. */
  validator: string;
  /** The validator had the announced block when it was asked: what it says of blocks up to there is complete. */
  wasAtHead: boolean;
};

/**
 * A long answer on its way. Joined, `beforeId`, the client's id, `afterId` and every chunk are the response object, byte
 * for byte as the validator wrote it. It stands still until `start`. Whoever takes it must either start it or abort it.
 */
export type StreamedAnswer = {
  beforeId: ByteText;
  /** The bytes that had come when the answer was found to be long. */
  afterId: Buffer;
  /** The name of the validator that streams it. */
  validator: string;
  /** Lets it flow. `onEnd` or `onFailure` is called at last, unless it is aborted. */
  start(reader: StreamReader): void;
  /** Stops the validator's bytes; what the socket has already read may still come. */
  pause(): void;
  resume(): void;
  /** The client is gone: closes the connection to the validator and calls nothing any more. */
  abort(): void;
};

export type StreamReader = {
  onChunk(chunk: Buffer): void;
  onEnd(): void;
  /**
   * The rest will not come. Part of the answer is written, so the client's connection has to be reset. `isBroken`: the
   * validator broke off; otherwise the reader was too slow.
   */
  onFailure(isBroken: boolean): void;
};

/**
 * Why there is no answer. From the pool:
 * - "unavailable": no validator answered in time, or too many calls wait;
 * - "crowded": the key has as many calls on their way as it may have;
 * - "lost": the validator ended or went silent while it ran the call, which goes to no other;
 * - "overdue": a call of the slow lane was still running when its time was over;
 * - "unsent": the call has reached no validator: a transaction, or a call of the slow lane for one validator;
 * - "too_large": the answer is longer than one that is held whole may be;
 * - "no_room": answers on their way hold as many bytes as they may.
 *
 * Before a validator is asked:
 * - "deadly": the call has ended a validator before;
 * - "struck": traces of the same key have ended validators;
 * - "spared": too few validators are healthy to run a trace;
 * - "busy": other traces ran all the time.
 */
export type Unanswered =
  | "unavailable"
  | "crowded"
  | "lost"
  | "overdue"
  | "unsent"
  | "too_large"
  | "no_room"
  | "deadly"
  | "struck"
  | "spared"
  | "busy";

/** An answer of our own; `resultText` is JSON in ASCII. */
export function ownWholeAnswer(resultText: string): WholeAnswer {
  return { ...ownAnswer(resultText), isAscii: true, validator: "", wasAtHead: false };
}

export function isStreamed(answer: object): answer is StreamedAnswer {
  return "start" in answer;
}

/** How each validator of this network begins its answers, up to the id. */
export const usualBeforeId = '{"jsonrpc":"2.0","id":';
