import type { Logger } from "pino";

const repeatMs = 30_000;

/** Says a failure once, and again while it lasts. */
export function createFailureLog({
  logger,
  monotonicMs,
}: {
  logger: Pick<Logger, "info" | "warn">;
  monotonicMs: () => number;
}) {
  let count = 0;
  let lastSaid = "";
  let saidAtMs = 0;
  return {
    /** @returns how many there were in a row before this one. */
    add(error: unknown): number {
      const message = error instanceof Error ? error.message : String(error);
      if (message !== lastSaid || monotonicMs() - saidAtMs > repeatMs) {
        logger.warn({ err: error }, "the index cannot be brought to the chain's head");
        lastSaid = message;
        saidAtMs = monotonicMs();
      }
      count += 1;
      return count - 1;
    },
    over(): void {
      if (count > 0) logger.info({ failures: count }, "the index follows the chain again");
      count = 0;
      lastSaid = "";
    },
  };
}
