/** The candidate that a typing error most likely meant; `undefined` where none is near. */
export function nearest(word: string, candidates: Iterable<string>): string | undefined {
  let best: string | undefined;
  // A third of the letters may be wrong, but not more: a guess that is not near misleads.
  let bestDistance = Math.max(1, Math.floor(word.length / 3)) + 1;
  for (const candidate of candidates) {
    const distance = editDistance(word.toLowerCase(), candidate.toLowerCase());
    if (distance < bestDistance) {
      best = candidate;
      bestDistance = distance;
    }
  }
  return best;
}

/** ` Did you mean …?`, or nothing. */
export function didYouMean(guess: string | undefined, prefix = ""): string {
  return guess === undefined ? "" : ` Did you mean ${prefix}${guess}?`;
}

const wordCharsMax = 100;

/** Levenshtein's distance: letters to insert, delete or replace, and two neighbours that change places count once. */
export function editDistance(left: string, right: string): number {
  const a = left.slice(0, wordCharsMax);
  const b = right.slice(0, wordCharsMax);
  let beforeLast: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, column) => column);
  for (let row = 1; row <= a.length; row += 1) {
    const current = [row];
    for (let column = 1; column <= b.length; column += 1) {
      const at = (line: number[], index: number) => line[index] ?? 0;
      const isSame = a[row - 1] === b[column - 1];
      let distance = Math.min(
        at(current, column - 1) + 1,
        at(last, column) + 1,
        at(last, column - 1) + (isSame ? 0 : 1),
      );
      const isSwapped = row > 1 && column > 1 && a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1];
      if (isSwapped) distance = Math.min(distance, at(beforeLast, column - 2) + 1);
      current.push(distance);
    }
    beforeLast = last;
    last = current;
  }
  return last[b.length] ?? 0;
}
