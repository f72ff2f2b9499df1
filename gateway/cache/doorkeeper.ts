/** About so many later keys pass before one is forgotten. 256 KiB. */
const slots = 1 << 16;

/**
 * Tells which keys come a second time, by their hashes alone: numbers in one array, which the garbage collector never looks
 * at. A mistake is harmless: an answer is kept one call too early or too late.
 */
export function createDoorkeeper() {
  const latest = new Int32Array(slots);
  return {
    /** Whether this key has come before. It has after this call. */
    knows(hash: number): boolean {
      const slot = hash & (slots - 1);
      const isKnown = latest[slot] === hash;
      latest[slot] = hash;
      return isKnown;
    },
  };
}
