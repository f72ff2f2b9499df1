import type { MethodRule } from "../methods/method-table.ts";
import type { Refusal } from "./refusal.ts";

/**
 * Text whose characters are the bytes of a body, one each (latin1). So ids, parameters and results stay exactly the
 * bytes that came, whatever they encode, and writing them as latin1 gives those bytes back.
 */
export type ByteText = string;

/** One call of a request on its way, in the request's order. `idText` undefined: a notification. */
export type Call = { idText: ByteText | undefined } & (CallToForward | RefusedCall);

/** `bytes`: what was read of it before it was refused, where that can be much. */
export type RefusedCall = { kind: "refused"; refusal: Refusal; bytes?: number };

export type CallToForward = {
  kind: "forward";
  rule: MethodRule;
  /** A JSON array, as it will be put into the body for the validator. */
  paramsText: ByteText;
  /** Set by the stage `at-head`; without it nothing is known, as where it is "open". */
  about?: About;
};

/**
 * Which block a call is about, once a tag that means the latest is replaced: the number of one, or
 * - "fixed": what never changes, because a hash names it or because no block has a say in it;
 * - "head": whatever block is the latest;
 * - "open": what can change at any moment (`pending`), or what cannot be told.
 */
export type About = number | "fixed" | "head" | "open";

/**
 * A validator's answer to one call: the bytes of its response object around the id. Joined with the client's id in
 * between they are the response object, otherwise byte for byte as the validator wrote it.
 */
export type Answer = {
  beforeId: ByteText;
  afterId: ByteText;
  /** Known to have no byte above 0x7f. */
  isAscii: boolean;
};

/** An answer of our own; `resultText` is JSON in ASCII. */
export function ownAnswer(resultText: string): Answer {
  return { beforeId: '{"jsonrpc":"2.0","id":', afterId: `,"result":${resultText}}`, isAscii: true };
}
