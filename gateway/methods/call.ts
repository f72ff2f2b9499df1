import type { ByteText } from "../json-rpc/answer.ts";
import type { Refusal } from "../json-rpc/refusal.ts";
import type { MethodRule } from "./method-table.ts";

/** One call of a request. `idText` is undefined for a notification. */
export type Call = { idText: ByteText | undefined } & (CallToForward | RefusedCall);

/** `bytes`: how many were read before it was refused, where that can be many. */
export type RefusedCall = { kind: "refused"; refusal: Refusal; bytes?: number };

export type CallToForward = {
  kind: "forward";
  rule: MethodRule;
  /** A JSON array, as it will be put into the body for the validator. */
  paramsText: ByteText;
  /** Set by the stage `at-head`. Without it the call counts as "open". */
  about?: About;
};

/**
 * Which block a call is about, once tags for the latest block are replaced: its number, or
 * - "fixed": the answer never changes, because a hash names the block or because it depends on no block;
 * - "head": the answer depends on the latest block;
 * - "open": the answer can change at any moment (`pending`), or the block is not known.
 */
export type About = number | "fixed" | "head" | "open";
