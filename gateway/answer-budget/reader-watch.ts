import type { AnswerSettings } from "./answer-settings.ts";

/** A long answer whose reader has not taken all of it. */
export type Reading = {
  /** How many bytes of it the reader has taken. */
  takenBytes(): number;
  /** Ends the connection, which gives back the answer's memory. */
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
 * Closes connections whose clients read a long answer slower than `readBytesPerSecondMin`, counted from `readGraceMs` after
 * its beginning; both are read anew each time. A client that takes a byte now and then would hold all of it for ever.
 */
export function createReaderWatch({
  settings,
  monotonicMs,
}: {
  settings: Readonly<Pick<AnswerSettings, "readBytesPerSecondMin" | "readGraceMs">>;
  monotonicMs: () => number;
}): ReaderWatch {
  const readings = new Map<Reading, number>();
  let closed = 0;

  const looking = setInterval(() => {
    const nowMs = monotonicMs();
    const { readBytesPerSecondMin, readGraceMs } = settings;
    for (const [reading, startedMs] of readings) {
      const elapsedMs = nowMs - startedMs - readGraceMs;
      // A reader that has taken nothing is closed as soon as the grace ends.
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
