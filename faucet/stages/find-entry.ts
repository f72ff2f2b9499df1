import { type Refusal, refusal } from "../../lib/http-service/refusal.ts";
import type { AllowlistStore } from "../allowlist/allowlist-store.ts";

/** What the allowlist gives an address, in wei. */
export async function findEntry({
  address,
  allowlist,
  amountWei,
}: {
  address: string;
  allowlist: AllowlistStore;
  /** Where the list says no other. */
  amountWei: bigint;
}): Promise<{ amountWei: bigint } | Refusal> {
  const entry = await allowlist.find(address);
  if (entry !== undefined) return { amountWei: entry.amountWei ?? amountWei };
  return refusal(
    "not_allowlisted",
    "The address is not on the faucet's allowlist; ask the people who run the network to add it",
  );
}
