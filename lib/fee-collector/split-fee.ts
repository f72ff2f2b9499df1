export const burnBasisPoints = 3000;
export const treasuryBasisPoints = 10_000 - burnBasisPoints;

/** How the contract splits an order's fee, in wei: what is burned is rounded down, the treasury has the rest. */
export function splitFee(fee: bigint): { burned: bigint; treasury: bigint } {
  const burned = (fee * BigInt(burnBasisPoints)) / 10_000n;
  return { burned, treasury: fee - burned };
}
