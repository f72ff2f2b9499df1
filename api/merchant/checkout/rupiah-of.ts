import { formatRupiah } from "../invoices/format-rupiah.ts";
import type { Invoice } from "../invoices/invoice.ts";

type Priced = Pick<Invoice, "amount" | "amountIdr" | "received">;

/** What is missing, in wei; 0 where nothing is. */
export function dueOf({ amount, received }: Priced): bigint {
  return received < amount ? amount - received : 0n;
}

/** What is too much, in wei. */
export function overOf({ amount, received }: Priced): bigint {
  return received > amount ? received - amount : 0n;
}

/**
 * A part of an invoice in whole rupiah, by the invoice's own price. What is missing is rounded up, so that it is never told as less
 * than it is; what has arrived or is too much is rounded down.
 * @returns undefined below one rupiah, where only tokens tell the truth
 */
export function rupiahOf(
  wei: bigint,
  { amount, amountIdr }: Priced,
  { round }: { round: "up" | "down" },
): string | undefined {
  const exact = wei * BigInt(amountIdr);
  const rupiah = round === "up" ? (exact + amount - 1n) / amount : exact / amount;
  return rupiah < 1n ? undefined : formatRupiah(Number(rupiah));
}
