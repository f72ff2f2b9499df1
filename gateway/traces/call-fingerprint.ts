import { createHash } from "node:crypto";
import { canonicalParams } from "../methods/block-parameter/canonical-params.ts";
import { findParam, found } from "../methods/block-parameter/find-param.ts";
import type { CallToForward } from "../methods/call.ts";

/**
 * Identifies a call, whatever its key: 128 bits of SHA-256 of its method and its parameters in canonical form, without the
 * block, because `latest` is another number with each block.
 */
export function callFingerprint({ rule, paramsText }: Pick<CallToForward, "rule" | "paramsText">): string {
  let text = canonicalParams(paramsText);
  if (typeof rule.block?.at === "number" && findParam(text, rule.block.at) === "there") {
    text = text.slice(0, found.start) + text.slice(found.end);
  }
  return createHash("sha256").update(`${rule.name} ${text}`).digest("hex").slice(0, 32);
}
