import type { InvoiceRecord } from "../../invoices/invoice-record.ts";

export type RefundOf = "excess" | "all";

/** What each payer would get back, the last one first; `unknownWei` came from nobody who can be named. Together it is all of it. */
export type Refunds = { shares: { payer: string; amountWei: bigint }[]; unknownWei: bigint };

/**
 * What of an invoice can be given back, to whom: what is too much, or all of what came where it came in parts or late. What is too
 * much came last. Of very many payments the last ones are not told (`paymentsToldMax`), and who sent those is not known. Undefined
 * where there is nothing.
 */
export function refundsOf(
  invoice: Pick<InvoiceRecord, "state" | "receivedWei" | "overpaidWei" | "payments">,
  of: RefundOf,
): Refunds | undefined {
  const { state, receivedWei, overpaidWei } = invoice;
  const isAllOffered = state === "underpaid" || state === "paid_late";
  const total = BigInt(of === "excess" ? overpaidWei : isAllOffered ? receivedWei : "0");
  if (total === 0n) return undefined;
  const byPayer = new Map<string, bigint>();
  const told = invoice.payments.reduce((sum, { amountWei }) => sum + BigInt(amountWei), 0n);
  const untold = BigInt(receivedWei) - told;
  let left = untold < total ? total - untold : 0n;
  for (const { payer, amountWei } of invoice.payments.toReversed()) {
    const paid = BigInt(amountWei);
    const share = paid < left ? paid : left;
    left -= share;
    if (payer !== null && share > 0n) byPayer.set(payer, (byPayer.get(payer) ?? 0n) + share);
  }
  const shares = [...byPayer].map(([payer, amountWei]) => ({ payer, amountWei }));
  const known = shares.reduce((sum, { amountWei }) => sum + amountWei, 0n);
  return { shares, unknownWei: total - known };
}
