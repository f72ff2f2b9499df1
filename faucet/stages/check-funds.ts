/**
 * How many claims of this amount the wallet could pay if none were open, by what the paying replica saw last. The script
 * of `admit` compares it with the claims that are, so that the answer to an Idempotency-Key comes first. Of a wallet that
 * nobody has seen yet, the script itself says so.
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
