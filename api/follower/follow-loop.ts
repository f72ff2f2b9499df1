import { setTimeout as sleep } from "node:timers/promises";
import type { Logger } from "pino";
import { createFailureLog, type FailureTexts } from "./failure-log.ts";

const retryMaxMs = 5000;
const stopWithinMs = 1000;

/**
 * Does rounds while this process leads: one after the other while there is more to do, else at a call of `wake` or after
 * `pollMs`. After a failure it waits longer with each one in a row.
 */
export function createFollowLoop({
  round,
  isLeader,
  onFailure,
  pollMs,
  retryMinMs,
  texts,
  logger,
  monotonicMs,
}: {
  /** @returns whether there is more to do at once. */
  round: () => Promise<boolean>;
  isLeader: () => boolean;
  onFailure: () => void;
  pollMs: number;
  retryMinMs: number;
  texts: FailureTexts;
  logger: Pick<Logger, "info" | "warn">;
  monotonicMs: () => number;
}) {
  const stopping = new AbortController();
  let working: Promise<void> | undefined;
  let isStopped = false;
  let wake = Promise.withResolvers<void>();
  const goesOn = () => !isStopped && isLeader();
  const pause = (ms: number) => sleep(ms, undefined, { signal: stopping.signal }).catch(() => {});

  async function work(): Promise<void> {
    const failures = createFailureLog({ texts, logger, monotonicMs });
    while (!isStopped) {
      wake = Promise.withResolvers<void>();
      if (goesOn()) {
        try {
          const goesOnAtOnce = await round();
          failures.over();
          if (goesOnAtOnce) continue;
        } catch (error) {
          if (isStopped) return;
          onFailure();
          const waitMs = Math.min(retryMinMs * 2 ** failures.add(error), retryMaxMs);
          // A new head is no reason to hurry where the last round failed.
          await pause(Math.min(waitMs, pollMs));
          continue;
        }
      }
      await Promise.race([wake.promise, pause(pollMs)]);
    }
  }

  return {
    /** Whether a round that runs may go on to write. */
    goesOn,

    start(): void {
      working = work();
    },

    wake: () => wake.resolve(),

    /** Lets the round end, for a second: a chain that does not answer is not waited for. */
    async stop(): Promise<void> {
      isStopped = true;
      stopping.abort();
      const ended = new AbortController();
      const late = sleep(stopWithinMs, undefined, { signal: ended.signal }).catch(() => {});
      await Promise.race([working, late]);
      // The timer alone would keep the process for all of its time.
      ended.abort();
    },
  };
}
