import { setTimeout as sleep } from "node:timers/promises";

/** Waits until `holds` is true. `what` says what is waited for. @throws Error where the time runs out. */
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
