/** Numbers in [0, 1) that follow from a seed, so that a run can be repeated (xorshift with 32 bits and a mixed seed). */
export function createRandom(seed: number): () => number {
  let state = Math.imul(seed ^ 0x9e3779b9, 0x85ebca6b) || 1;
  return () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) / 0x1_0000_0000;
  };
}

/** One of a list; `undefined` where it is empty. */
export function oneOf<Item>(list: readonly Item[], random: () => number): Item | undefined {
  return list[Math.floor(random() * list.length)];
}
