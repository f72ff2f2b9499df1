import type { HeadTracker } from "./head/head-tracker.ts";

/** How validators differ, in words for `/readyz`: who is not asked and why, and which blocks wait for a majority. */
export function differencesIn({ outside, waiting }: ReturnType<HeadTracker["differences"]>): string[] {
  const named = new Set(outside.map(({ label }) => label));
  const words = outside.map(({ label, outside: { words } }) => `${label} is not asked: ${words}`);
  for (const { number, hash, having } of waiting) {
    if (having.every((label) => named.has(label))) continue;
    words.push(
      `block ${number} waits: only ${having.join(", ")} ${having.length === 1 ? "has" : "have"} ${hash.slice(0, 10)}…`,
    );
  }
  return words;
}
