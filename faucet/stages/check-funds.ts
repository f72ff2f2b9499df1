/**
 * How many claims of this amount the wallet could pay if none were open, by the paying replica's last look. The script of
 * `admit` compares it with the open claims, so that the answer to an Idempotency-Key comes first. If no replica has looked
 * at the wallet yet, the script says so itself.
 */
export function checkFunds({
  balanceWei,
  amountWei,
  feeMaxWei,
}: {
  balanceWei: bigint | undefined;
  amountWei: bigint;
  feeMaxWei: bigint;
}): { affordable: number } {
  if (balanceWei === undefined) return { affordable: Number.MAX_SAFE_INTEGER };
  return { affordable: Number(balanceWei / (amountWei + feeMaxWei)) };
}
