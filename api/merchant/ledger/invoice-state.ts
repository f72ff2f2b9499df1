export type InvoiceState = "open" | "underpaid" | "paid" | "overpaid" | "expired" | "paid_late" | "canceled";

/**
 * An invoice's state: a summary of what has arrived, and when. Money is never hidden: what arrives after the end or after
 * a cancellation shows as `underpaid` or `paid_late`. Amounts in wei.
 */
export function invoiceState({
  amount,
  received,
  receivedInTime,
  isExpired,
  isCanceled,
}: {
  amount: bigint;
  received: bigint;
  /** In blocks up to the invoice's end. */
  receivedInTime: bigint;
  /** By the time of the newest block that is booked. */
  isExpired: boolean;
  isCanceled: boolean;
}): InvoiceState {
  if (!isCanceled && receivedInTime >= amount) return received > amount ? "overpaid" : "paid";
  if (received >= amount) return "paid_late";
  if (received > 0n) return "underpaid";
  if (isCanceled) return "canceled";
  return isExpired ? "expired" : "open";
}
