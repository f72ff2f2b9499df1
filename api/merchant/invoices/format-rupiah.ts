const format = new Intl.NumberFormat("id-ID", {
  style: "currency",
  currency: "IDR",
  maximumFractionDigits: 0,
});

/** `Rp 150.000`, as Indonesia writes it, with a space that does not break (U+00A0). */
export function formatRupiah(amountIdr: number): string {
  return format.format(amountIdr);
}
