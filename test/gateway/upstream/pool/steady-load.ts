import type { PoolCallOptions } from "../../../../gateway/upstream/validator-pool.ts";

export type Asked = { atMs: number; tookMs: number; text: string };

/**
 * Asks so often for so long, or until `isOver`, whatever becomes of what was asked before. Times count from the
 * beginning.
 */
export async function steadyLoad({
  ask,
  callsPerSecond,
  durationMs,
  isOver = () => false,
}: {
  ask: (index: number, options?: PoolCallOptions) => Promise<string>;
  callsPerSecond: number;
  durationMs: number;
  isOver?: () => boolean;
}): Promise<Asked[]> {
  const began = performance.now();
  const asked: Promise<Asked>[] = [];
  const one = async (index: number): Promise<Asked> => {
    const atMs = performance.now() - began;
    const text = await ask(index);
    return { atMs, tookMs: performance.now() - began - atMs, text };
  };
  while (performance.now() - began < durationMs && !isOver()) {
    const due = Math.floor(((performance.now() - began) / 1000) * callsPerSecond);
    while (asked.length < due) asked.push(one(asked.length));
    // Calls begin by the clock, whatever became of those before them.
    await new Promise((resolve) => setTimeout(resolve, 4));
  }
  return Promise.all(asked);
}

/**
 * What a fault cost: reads that failed, and answers that were late although they began long after it. Late is 500 ms more
 * than three times what the slowest read took before the fault, since a busy machine makes all of them slow.
 */
export function costOf(asked: readonly Asked[], { faultAtMs }: { faultAtMs: number }) {
  const failed = asked.filter(({ text }) => !text.includes('"result":"'));
  const before = asked.filter(({ atMs, tookMs }) => atMs + tookMs < faultAtMs).map(({ tookMs }) => tookMs);
  const lateMs = 500 + 3 * Math.max(0, ...before);
  const late = asked.filter(({ atMs, tookMs }) => atMs > faultAtMs + 2000 && tookMs > lateMs);
  return { calls: asked.length, failed: failed.length, late: late.length, failure: failed[0]?.text };
}
