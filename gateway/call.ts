import type { MethodRule } from "./method-table.ts";
import type { Refusal } from "./refusal.ts";

/**
 * Text whose characters are the bytes of a body, one each (latin1). So ids, parameters and results stay exactly the
 * bytes that came, whatever they encode, and writing them as latin1 gives those bytes back.
 */
export type ByteText = string;

/** One call of a request on its way, in the request's order. `idText` undefined: a notification. */
export type Call = { idText: ByteText | undefined } & (CallToForward | { kind: "refused"; refusal: Refusal });

export type CallToForward = {
  kind: "forward";
  rule: MethodRule;
  /** A JSON array, as it will be put into the body for the validator. */
  paramsText: ByteText;
};

/**
 * A validator's answer to one call: the bytes of its response object around the id. Joined with the client's id in
 * between they are the response object, otherwise byte for byte as the validator wrote it.
 */
export type Answer = { beforeId: ByteText; afterId: ByteText };
