/**
 * Reads ranges from `first` to `last` in order, `ahead` of them at once, and no further ones until those were taken. Where
 * one fails, those that were begun are waited for, so that a chain that is slow never has more to do.
 */
export async function* readAhead<Range>({
  first,
  last,
  ahead,
  blocks,
  read,
}: {
  first: number;
  /** May grow meanwhile. */
  last: () => number;
  ahead: number;
  /** How many blocks the next range has. */
  blocks: () => number;
  read: (first: number, last: number) => Promise<Range>;
}): AsyncGenerator<Range> {
  const begun: Promise<Range>[] = [];
  let at = first;
  try {
    for (;;) {
      while (begun.length < ahead && at <= last()) {
        const end = Math.min(at + blocks() - 1, last());
        const range = read(at, end);
        // Told when its turn comes.
        range.catch(() => {});
        begun.push(range);
        at = end + 1;
      }
      const range = begun[0];
      if (range === undefined) return;
      const done = await range;
      begun.shift();
      yield done;
    }
  } finally {
    await Promise.allSettled(begun);
  }
}
