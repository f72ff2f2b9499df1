import { isRefusal, type Refusal, refusal } from "../lib/http-service/refusal.ts";
import type { AllowlistStore } from "./allowlist/allowlist-store.ts";
import type { Admission, ClaimScope } from "./claims/admission.ts";
import type { Attempts } from "./claims/attempts.ts";
import { findEntry } from "./stages/find-entry.ts";
import { readRecipient } from "./stages/read-recipient.ts";

/** What a claim of an address would get; `refused`: why it would get nothing now. */
export type Allowance = { amountWei: bigint; refused: Refusal | undefined };

export type LookUpAllowance = (asked: { address: string; scope: ClaimScope }) => Promise<Allowance>;

/**
 * Says before a claim what it would get. It tells as much of the allowlist as a claim does, so an address that is not on it
 * counts as a refused claim: the bound on those holds for both together.
 */
export function createLookUpAllowance({
  allowlist,
  admission,
  attempts,
  settings,
  now,
}: {
  allowlist: AllowlistStore;
  admission: Pick<Admission, "nextAtMs">;
  attempts: Attempts;
  /** `amount`: what a claim gets where the list says no other. */
  settings: { readonly amount: bigint };
  now: () => number;
}): LookUpAllowance {
  return async ({ address: typed, scope }) => {
    const amountWei = settings.amount;
    const to = readRecipient(typed);
    if (isRefusal(to)) return { amountWei, refused: to };
    const attempt = await attempts.begin(scope);
    if (isRefusal(attempt)) return { amountWei, refused: attempt };
    const entry = await findEntry({ address: to.address, allowlist, amountWei });
    if (isRefusal(entry)) return { amountWei, refused: entry };
    await attempt.giveBack();
    const nextAtMs = await admission.nextAtMs(to.address);
    return { ...entry, refused: nextAtMs === undefined ? undefined : hadItsClaim(nextAtMs - now()) };
  };
}

function hadItsClaim(waitMs: number): Refusal {
  return refusal("rate_limited", "The address has had its claim", {
    reason: "limit_address",
    retryAfterMs: Math.max(1, waitMs),
  });
}
