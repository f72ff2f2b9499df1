import type { AnswerSettings } from "./answer-settings.ts";

/** A long answer whose reader has not taken all of it. */
export type Reading = {
  /** Bytes of it that were taken. */
  takenBytes(): number;
  /** Ends the connection, and so gives back what the answer holds. */
  close(): void;
};

export type ReaderWatch = {
  /** Watches until the returned function is called. */
  watch(reading: Reading): () => void;
  /** Connections closed because their clients read too slowly. */
  closed(): number;
  stop(): void;
};

const lookEveryMs = 500;

/**
 * Closes connections whose clients read a long answer slower than `readBytesPerSecondMin`, counted from `readGraceMs`
 * after it was begun: who takes a byte now and then would hold the whole of it for ever.
 */
export function createReaderWatch({
  settings: { readBytesPerSecondMin, readGraceMs },
  monotonicMs,
}: {
  settings: Pick<AnswerSettings, "readBytesPerSecondMin" | "readGraceMs">;
  monotonicMs: () => number;
}): ReaderWatch {
  const readings = new Map<Reading, number>();
  let closed = 0;

  const looking = setInterval(() => {
    const nowMs = monotonicMs();
    for (const [reading, startedMs] of readings) {
      const elapsedMs = nowMs - startedMs - readGraceMs;
      // At the end of the grace a reader that took nothing at all is out.
      if (elapsedMs < 0 || reading.takenBytes() > (elapsedMs / 1000) * readBytesPerSecondMin) continue;
      closed += 1;
      readings.delete(reading);
      reading.close();
    }
  }, lookEveryMs);
  looking.unref();

  return {
    watch(reading) {
      readings.set(reading, monotonicMs());
      return () => readings.delete(reading);
    },
    closed: () => closed,
    stop: () => clearInterval(looking),
  };
}
