import type { Permission } from "../../../lib/keys/key-record.ts";
import { checkBlockRange } from "../../methods/block-parameter/block-range.ts";
import { canonicalParams } from "../../methods/block-parameter/canonical-params.ts";
import { findParam, found } from "../../methods/block-parameter/find-param.ts";
import { readBlock } from "../../methods/block-parameter/read-block.ts";
import type { About, Call, CallToForward } from "../../methods/call.ts";
import type { AnnouncedHead } from "../../upstream/announced-head.ts";

/**
 * Which block it is asked of: `latest`, `safe`, `finalized` and a missing parameter that means them become the number of
 * `head`, one for all calls of a body. So a client's reads never go back, whichever validator answers, and within one
 * block the same call has one answer. Without a head everything stays as it was sent.
 *
 * A filter over more blocks than the key may ask for at once is refused here, where its ends are known.
 */
export function atHead(
  call: Call,
  { head, permissions }: { head: AnnouncedHead | undefined; permissions: readonly Permission[] },
): Call {
  if (call.kind === "refused") return call;
  const { rule } = call;
  const { block, cache } = rule;
  if (block === undefined && cache === "never") return call;
  const text = cache === "never" ? call.paramsText : canonicalParams(call.paramsText);
  if (block === undefined) return placed(call, text, cache === "forever" ? "fixed" : "head");
  if (block.at === "filter") {
    const range = checkBlockRange({ rule, paramsText: text, permissions, headNumber: () => head?.bigNumber });
    if ("refused" in range) {
      return { idText: call.idText, kind: "refused", refusal: range, bytes: call.paramsText.length };
    }
    const { about, paramsText, rule: travelling = rule } = range;
    return placed({ ...call, rule: travelling }, canonicalParams(paramsText), about);
  }
  return atBlock(call, { text, at: block.at, missing: block.missing, head });
}

function atBlock(
  call: Call & CallToForward,
  {
    text,
    at,
    missing,
    head,
  }: {
    text: string;
    at: number;
    missing: "latest" | "pending" | "none";
    head: AnnouncedHead | undefined;
  },
): Call {
  const where = findParam(text, at);
  const { start, end } = found;
  if (where === "beyond") return placed(call, text, "open");
  const named = where === "there" ? readBlock(text.slice(start, end)) : "missing";
  if (typeof named === "number") return placed(call, text, named);
  if (named === "hash") return placed(call, text, "fixed");
  const isLatest = named === "latest" || (named === "missing" && missing === "latest");
  if (!isLatest || head === undefined) return placed(call, text, "open");
  const separator = where === "next" && at > 0 ? "," : "";
  return placed(call, text.slice(0, start) + separator + head.numberText + text.slice(end), head.number);
}

function placed({ idText, rule }: Call & CallToForward, paramsText: string, about: About): Call {
  return { idText, kind: "forward", rule, paramsText, about };
}
