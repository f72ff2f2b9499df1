import type { Invoice } from "../invoices/invoice.ts";

/**
 * What an invoice is to its customer, each with words of its own. `waiting` and `short` can be paid; `ending` is over by the clock and
 * not by the ledger yet, which may still book what came in time; `shortOver` got a part of it and can be paid no more; `otherChain`
 * is of a chain that is gone.
 */
export type Phase =
  | "waiting"
  | "short"
  | "ending"
  | "shortOver"
  | "paid"
  | "overpaid"
  | "late"
  | "expired"
  | "canceled"
  | "otherChain";

/** `nowMs`: the time that the chain's next block will not be before. A payment in the second of the end is in time. */
export function phaseOf(
  { state, expiresAt, canceledAt }: Pick<Invoice, "state" | "expiresAt" | "canceledAt">,
  { isOfThisChain, nowMs }: { isOfThisChain: boolean; nowMs: number },
): Phase {
  if (state === "paid" || state === "overpaid") return state;
  if (state === "paid_late") return "late";
  if (!isOfThisChain) return "otherChain";
  if (state === "expired" || state === "canceled") return state;
  const isOver = canceledAt !== null || nowMs > expiresAt.getTime();
  if (state === "underpaid") return isOver ? "shortOver" : "short";
  return isOver ? "ending" : "waiting";
}
