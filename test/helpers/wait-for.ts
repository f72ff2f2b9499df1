import { setTimeout as sleep } from "node:timers/promises";

type Falsy = false | null | undefined;

/**
 * Resolves with the first truthy value that `holds` gives; asked anew every 10 ms. What `what` names is in the error of a
 * test that waited in vain, so it is said as a sentence: "the head is announced". The time is for a busy machine: a
 * behaviour that has a bound of its own measures it instead.
 */
export async function waitFor<Value>(
  what: string,
  holds: () => Value | Falsy | Promise<Value | Falsy>,
  { withinMs = 60_000, everyMs = 10 }: { withinMs?: number; everyMs?: number } = {},
): Promise<Value> {
  const endMs = performance.now() + withinMs;
  for (;;) {
    const value = await holds();
    if (value) return value;
    if (performance.now() > endMs) throw new Error(`not within ${withinMs} ms: ${what}`);
    await sleep(everyMs);
  }
}
