import type { Logger } from "pino";
import { createRounds } from "./rounds.ts";

const sweepEveryMs = 60_000;
/** So that what comes in between is not held up for long; the rest has its turn a minute later. */
const partsMax = 10;

/** A task does a part of what is due, and says whether there may be more. */
export type SweepTask = () => Promise<{ hasMore: boolean }>;

/** Removes what nobody needs any more from the merchants' tables, each minute, in parts. Several processes do it side by side. */
export function createSweep({
  tasks,
  logger,
  everyMs = sweepEveryMs,
}: {
  tasks: readonly SweepTask[];
  logger: Pick<Logger, "warn">;
  everyMs?: number;
}) {
  async function sweep(signal: AbortSignal): Promise<void> {
    try {
      for (const task of tasks) {
        for (let part = 0; part < partsMax && !signal.aborted; part += 1) {
          if (!(await task()).hasMore) break;
        }
      }
    } catch (error) {
      logger.warn({ err: error }, "what is out of date was not removed; tried again in a minute");
    }
  }

  return createRounds({ work: sweep, everyMs });
}
