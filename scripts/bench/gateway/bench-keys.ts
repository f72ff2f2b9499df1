import { keysCount } from "./workloads.ts";

export type BenchKey = { value: string; limitPerMinute: number };

/**
 * So high that nothing is refused, and within every contestant's counters: the gateway leases points, nginx and HAProxy
 * count.
 */
const highLimitPerMinute = 100_000_000;

/** The keys of the load. */
export const benchKeys: readonly BenchKey[] = Array.from({ length: keysCount }, (_, index) => ({
  value: `bench-key-${String(index).padStart(3, "0")}-${"k".repeat(32)}`,
  limitPerMinute: highLimitPerMinute,
}));

/** The key for the check that limits hold. */
export const limitedKey: BenchKey = { value: `bench-limited-${"k".repeat(32)}`, limitPerMinute: 5 };
