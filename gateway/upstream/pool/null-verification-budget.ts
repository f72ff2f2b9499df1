import { LRUCache } from "lru-cache";

export type VerificationBudget = ReturnType<typeof createVerificationBudget>;

/** Beyond so many keys, the one that verified longest ago begins anew. */
const keysMax = 10_000;

/**
 * How many questions of each key may go beyond two validators: `perSecondMax` a second, and as many at first. A token
 * bucket, used only where two validators did not know something.
 */
export function createVerificationBudget({ perSecondMax, now }: { perSecondMax: number; now: () => number }) {
  const buckets = new LRUCache<string, { left: number; atMs: number }>({ max: keysMax });
  return {
    take(group = ""): boolean {
      const nowMs = now();
      const bucket = buckets.get(group) ?? { left: perSecondMax, atMs: nowMs };
      const left = Math.min(perSecondMax, bucket.left + ((nowMs - bucket.atMs) / 1000) * perSecondMax);
      const mayTake = left >= 1;
      buckets.set(group, { left: mayTake ? left - 1 : left, atMs: nowMs });
      return mayTake;
    },
  };
}
