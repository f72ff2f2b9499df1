import type { Refusal } from "../../../lib/http-service/refusal.ts";
import type { MerchantContext } from "./merchant-page.ts";

/** Why something was not done, in the page's language. Programs are told in a problem document's words. */
export function refusalText({ words, el, sales }: MerchantContext, { refused }: Refusal): string {
  if (refused === "key_limit_reached") return words.buy.limit(el.integer(sales.activeKeysMax));
  if (refused === "rate_limited") return words.errors.tooManyOrders;
  return away.has(refused) ? words.errors.noPurchases : words.errors.other;
}

const away: ReadonlySet<Refusal["refused"]> = new Set([
  "service_unavailable",
  "upstream_unavailable",
  "network_stalled",
]);
