/** A question counts as asked before for about so many others after it. 256 KiB. */
const slots = 1 << 16;

/**
 * Tells which questions are asked again, by their hashes alone: numbers in one array, which the collector never looks at.
 * To be wrong is harmless: an answer is kept one asking too early or too late.
 */
export function createDoorkeeper() {
  const latest = new Int32Array(slots);
  return {
    /** Whether this question came to the door before; now it has. */
    knows(hash: number): boolean {
      const slot = hash & (slots - 1);
      const isKnown = latest[slot] === hash;
      latest[slot] = hash;
      return isKnown;
    },
  };
}
