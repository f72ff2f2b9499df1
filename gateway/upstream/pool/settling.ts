import { setTimeout as sleep } from "node:timers/promises";
import type { Choose } from "./choose.ts";

export type Settling = ReturnType<typeof createSettling>;

/** How long calls wait for new validators where none is left that was known before. They answer probes in milliseconds. */
const waitMsMax = 3000;
const lookEveryMs = 10;

/**
 * The moment after all validators were replaced at once, in which nothing is known of the new ones: calls wait then, where
 * they would otherwise find nobody to ask.
 */
export function createSettling({ isAnyKnown, now }: { isAnyKnown: () => boolean; now: () => number }) {
  let untilMs = Number.NEGATIVE_INFINITY;
  const isOn = () => now() < untilMs && !isAnyKnown();

  return {
    /** The validators were changed. */
    begin(): void {
      untilMs = isAnyKnown() ? Number.NEGATIVE_INFINITY : now() + waitMsMax;
    },
    isOn,
    /** Resolves when it is over. */
    async untilOver(): Promise<void> {
      while (isOn()) await sleep(lookEveryMs, undefined, { ref: false });
    },
    /** Chooses as `choose` does, and while it lasts has calls wait that found nobody. */
    patiently(choose: Choose): Choose {
      return (lane, excluded) => {
        const chosen = choose(lane, excluded);
        return chosen === "none" && isOn() ? "busy" : chosen;
      };
    },
  };
}
