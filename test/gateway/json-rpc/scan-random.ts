/** A source of random choices that gives the same ones for the same seed on every machine (mulberry32). */
export function createRandom(seed: number) {
  let state = seed >>> 0;

  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return (mixed ^ (mixed >>> 14)) >>> 0;
  };
  /** An integer from 0 to `end` - 1. */
  const below = (end: number): number => next() % end;
  const chance = (oneIn: number): boolean => below(oneIn) === 0;
  const many = <T>(count: number, make: (index: number) => T): T[] => {
    const made: T[] = [];
    for (let index = 0; index < count; index += 1) made.push(make(index));
    return made;
  };
  function pick<T>(values: readonly T[]): T {
    const value = values[below(values.length)];
    if (value === undefined) throw new RangeError("nothing to pick from");
    return value;
  }
  const shuffle = <T>(values: readonly T[]): T[] => {
    const rest = [...values];
    return many(rest.length, () => rest.splice(below(rest.length), 1)).flat();
  };

  return { below, chance, many, pick, shuffle };
}
