import { setTimeout as sleep } from "node:timers/promises";

/** Waits until it holds. @throws Error where that takes longer; `what` is a sentence that says what was waited for. */
export async function until(
  what: string,
  holds: () => boolean | Promise<boolean>,
  { withinMs = 60_000, everyMs = 10 }: { withinMs?: number; everyMs?: number } = {},
): Promise<void> {
  const endMs = performance.now() + withinMs;
  while (!(await holds())) {
    if (performance.now() > endMs) throw new Error(`not within ${withinMs} ms: ${what}`);
    await sleep(everyMs);
  }
}
