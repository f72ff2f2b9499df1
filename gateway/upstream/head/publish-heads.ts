import type { Logger } from "pino";
import type { HeadEvent } from "./due-heads.ts";
import type { HeadLimits } from "./head-limits.ts";
import type { createHeadLog } from "./head-log.ts";
import type { Header } from "./read-header.ts";
import { createWaiters } from "./waiters.ts";

/** `block` is the block object as the validator wrote it to `newHeads` or with transaction hashes; read-only. */
export type Head = Header & { numberHex: string };
/** `skipped` counts the blocks since the last announced one that were too many to fetch. */
export type NewHead = Head & { epoch: number; skipped: bigint };
/** `startedAt` in wall milliseconds; `genesisHash` undefined until it is decided. */
export type Epoch = { number: number; genesisHash: string | undefined; startedAt: number };

/** Holds the announced head and the epoch, and lets listeners, waiters and the log know of each change. */
export function createHeadPublisher({
  log,
  logger,
  limits,
  genesisHash,
  now,
  resume,
}: {
  log: Pick<ReturnType<typeof createHeadLog>, "genesis" | "head" | "epoch">;
  logger: Pick<Logger, "error">;
  limits: Pick<HeadLimits, "waitersMax">;
  genesisHash: () => string | undefined;
  now: () => number;
  /** What another process has announced before. */
  resume?: { head: Head | undefined; epoch: Epoch } | undefined;
}) {
  const waiters = createWaiters(limits);
  const headListeners = new Set<(head: NewHead) => void>();
  const epochListeners = new Set<(reason: string) => void>();
  let head = resume?.head;
  let epochNumber = resume?.epoch.number ?? 1;
  let epochStartedAt = resume?.epoch.startedAt ?? now();
  let stopped = false;

  function beginEpoch(reason: string): void {
    epochNumber += 1;
    epochStartedAt = now();
    log.epoch({ reason, epoch: epochNumber, genesisHash: genesisHash(), last: head?.number });
    head = undefined;
    waiters.dismiss();
    for (const listener of epochListeners) guard(() => listener(reason));
  }

  function publishHead(header: Header, skipped: bigint): void {
    log.head({ header, skipped, isFirst: head === undefined });
    const announced: Head = { ...header, numberHex: `0x${header.number.toString(16)}` };
    head = announced;
    for (const listener of headListeners)
      guard(() => listener({ ...announced, epoch: epochNumber, skipped }));
    waiters.announced(header.number);
  }

  /** One listener's fault does not reach another one. */
  function guard(call: () => void): void {
    try {
      call();
    } catch (error) {
      logger.error({ err: error }, "a listener to heads failed");
    }
  }

  return {
    head: () => head,
    epoch: (): Epoch => ({ number: epochNumber, genesisHash: genesisHash(), startedAt: epochStartedAt }),
    publish(event: HeadEvent): void {
      if (event.kind === "genesis") log.genesis(event.hash);
      else if (event.kind === "epoch") beginEpoch(event.reason);
      else publishHead(event.header, event.skipped);
    },
    waitFor: (number: bigint, timeoutMs: number): Promise<boolean> =>
      head !== undefined && head.number >= number
        ? Promise.resolve(true)
        : waiters.wait(number, stopped ? 0 : timeoutMs),
    onHead(listener: (head: NewHead) => void): () => void {
      headListeners.add(listener);
      return () => headListeners.delete(listener);
    },
    onEpoch(listener: (reason: string) => void): () => void {
      epochListeners.add(listener);
      return () => epochListeners.delete(listener);
    },
    stop(): void {
      stopped = true;
      waiters.dismiss();
    },
  };
}
