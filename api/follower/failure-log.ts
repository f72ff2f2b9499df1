import type { Logger } from "pino";

const repeatMs = 30_000;

/** What is said while something fails, and when it does again what it should. */
export type FailureTexts = { fails: string; isOver: string };

/** Says a failure once, and again while it lasts. */
export function createFailureLog({
  texts,
  logger,
  monotonicMs,
}: {
  texts: FailureTexts;
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
        logger.warn({ err: error }, texts.fails);
        lastSaid = message;
        saidAtMs = monotonicMs();
      }
      count += 1;
      return count - 1;
    },
    over(): void {
      if (count > 0) logger.info({ failures: count }, texts.isOver);
      count = 0;
      lastSaid = "";
    },
  };
}
