/** The head that was known before and after a subscription was acknowledged. */
export type Began = { from: number; to: number };
/** A block or a log: the number of its block, and its identity. */
export type Seen = { number: number; key: string };

/**
 * Checks that the notifications are the chain's blocks or logs without a gap: from the first block after the
 * acknowledgement, to the chain's end where the connection lived that long.
 */
export function compareSeen({
  seen,
  expected,
  began: { from, to },
  isWhole,
}: {
  seen: readonly Seen[];
  expected: readonly Seen[];
  began: Began;
  isWhole: boolean;
}): string | undefined {
  const [first] = seen;
  const start =
    first === undefined
      ? expected.findIndex(({ number }) => number > to)
      : expected.findIndex(({ key }) => key === first.key);
  if (first !== undefined) {
    if (start === -1) return `${first.key} is not on the chain`;
    if (first.number <= from) return `block ${first.number} was told, subscribed was behind ${from}`;
    const missed = expected[start - 1];
    if (missed !== undefined && missed.number > to) return `block ${missed.number} was not told`;
  }
  const wanted = start === -1 ? [] : expected.slice(start);
  for (const [at, { key }] of seen.entries()) {
    if (key !== wanted[at]?.key) return `number ${at} of ${seen.length} is ${key}, not ${wanted[at]?.key}`;
  }
  return isWhole && seen.length < wanted.length ? `${seen.length} of ${wanted.length} came` : undefined;
}
