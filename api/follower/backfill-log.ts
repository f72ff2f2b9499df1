import type { Logger } from "pino";

export type BackfillLog = ReturnType<typeof createBackfillLog>;

/** A few blocks behind is no backfill. */
const backfillBlocksMin = 100;

/** Says every `everyMs` how fast a backfill goes and how long it will take. */
export function createBackfillLog({
  logger,
  monotonicMs,
  everyMs = 10_000,
}: {
  logger: Pick<Logger, "info">;
  monotonicMs: () => number;
  everyMs?: number;
}) {
  let since: { ms: number; next: number } | undefined;
  return {
    at({ next, head }: { next: number; head: number }): void {
      const nowMs = monotonicMs();
      const behindBlocks = head + 1 - next;
      if (since === undefined || next < since.next) {
        if (behindBlocks >= backfillBlocksMin) {
          since = { ms: nowMs, next };
          logger.info({ next, head, behindBlocks }, "the index is behind");
        }
        return;
      }
      const seconds = (nowMs - since.ms) / 1000;
      if (seconds * 1000 < everyMs && behindBlocks > 0) return;
      const blocksPerSecond = Math.round((next - since.next) / Math.max(seconds, 0.001));
      if (behindBlocks <= 1) {
        logger.info({ next, head }, "the index has caught up");
        since = undefined;
        return;
      }
      const secondsLeft = blocksPerSecond === 0 ? null : Math.ceil(behindBlocks / blocksPerSecond);
      logger.info({ next, head, behindBlocks, blocksPerSecond, secondsLeft }, "the index is catching up");
      since = { ms: nowMs, next };
    },
  };
}
