import type { Logger } from "pino";
import type { SessionStore } from "./session-store.ts";

const sweepEveryMs = 60_000;

/** Removes rows of sessions that have run out, some each minute. They open nothing meanwhile. */
export function createSessionSweep({
  store,
  logger,
  everyMs = sweepEveryMs,
}: {
  store: Pick<SessionStore, "removeExpired">;
  logger: Pick<Logger, "warn">;
  everyMs?: number;
}) {
  let timer: NodeJS.Timeout | undefined;
  let underway: Promise<void> = Promise.resolve();

  async function sweep(): Promise<void> {
    try {
      await store.removeExpired();
    } catch (error) {
      logger.warn({ err: error }, "expired sessions were not removed; tried again in a minute");
    }
  }

  return {
    start() {
      timer ??= setInterval(() => {
        underway = underway.then(sweep);
      }, everyMs);
      timer.unref();
    },
    async stop() {
      clearInterval(timer);
      await underway;
    },
  };
}
