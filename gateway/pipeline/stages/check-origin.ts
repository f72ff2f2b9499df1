import type { FoundKey } from "../../../lib/keys/key-reader.ts";
import { type Refusal, refusal } from "../../json-rpc/refusal.ts";
import type { RequestHead } from "../../server/exchange.ts";

/**
 * Whether pages of this origin may use the key: its own list says so, else its team's, else any may. Only browsers send
 * an `Origin`, and only theirs is true (RFC 6454 section 7): the list keeps a key that leaked into a page from serving
 * another site's visitors, and keeps nobody else out.
 */
export function checkOrigin({ origin }: Pick<RequestHead, "origin">, key: FoundKey): Refusal | undefined {
  const allowed = key.origins ?? key.teamSettings.origins;
  if (origin === undefined || allowed === undefined || allowed.includes(origin)) return undefined;
  return refusal("forbidden", "This API key may not be used from pages of this origin; ask your operator");
}
