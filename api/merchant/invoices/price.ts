/** Decimal text above 0, with up to 12 digits on either side of the point: what `idrPerToken` is written in. */
export const decimalPattern = /^(?:0|[1-9]\d{0,11})(?:\.\d{1,12})?$/;

const weiOfToken = 10n ** 18n;
const significantDigits = 6;

/**
 * What an amount of rupiah costs, in wei: exact, then rounded up to six significant digits, so that a person can type it. Never
 * less than is owed, at most a hundred-thousandth more. Fractions of bigints, since a floating-point number would round before.
 */
export function priceInWei({ amountIdr, idrPerToken }: { amountIdr: number; idrPerToken: string }): bigint {
  const { numerator, denominator } = fractionOf(idrPerToken);
  const owed = BigInt(amountIdr) * weiOfToken * denominator;
  const digits = String(owed / numerator).length;
  const unit = 10n ** BigInt(Math.max(0, digits - significantDigits));
  return divideUp(owed, numerator * unit) * unit;
}

/** What of an amount is the platform's. */
export function feeOf(amount: bigint, basisPoints: number): bigint {
  return (amount * BigInt(basisPoints)) / 10_000n;
}

function fractionOf(decimal: string): { numerator: bigint; denominator: bigint } {
  const [whole = "0", decimals = ""] = decimal.split(".");
  return { numerator: BigInt(`${whole}${decimals}`), denominator: 10n ** BigInt(decimals.length) };
}

function divideUp(dividend: bigint, divisor: bigint): bigint {
  return (dividend + divisor - 1n) / divisor;
}
