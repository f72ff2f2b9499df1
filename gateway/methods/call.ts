import type { ByteText } from "../json-rpc/answer.ts";
import type { Refusal } from "../json-rpc/refusal.ts";
import type { MethodRule } from "./method-table.ts";

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
