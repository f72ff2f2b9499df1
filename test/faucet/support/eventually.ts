import { setTimeout as sleep } from "node:timers/promises";

/** Waits until something holds; throws where it does not within `withinMs`. */
export async function eventually(
  what: string,
  holds: () => boolean | Promise<boolean>,
  { withinMs = 15_000 }: { withinMs?: number } = {},
): Promise<void> {
  const giveUpAtMs = performance.now() + withinMs;
  while (!(await holds())) {
    if (performance.now() > giveUpAtMs) throw new Error(`${what}: not within ${withinMs} ms`);
    await sleep(15);
  }
}
