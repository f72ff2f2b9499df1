import { setTimeout as sleep } from "node:timers/promises";
import type { Leader } from "./leader.ts";
import { createPayRound } from "./pay-round.ts";
import type { PayerContext } from "./payer-context.ts";

/** A leader that fails for this long lets another replica try, which may reach the chain. */
const failingMaxMs = 3000;

export type Payer = {
  /** There is something to pay: no need to wait for the next look. */
  wake(): void;
  /** Why claims are not paid at the moment, in words; empty if they are. */
  problems(): readonly string[];
  isLeader(): boolean;
  /** Ends after the step that is under way, and gives leadership back. */
  stop(): Promise<void>;
};

/**
 * Pays claims, on one replica at a time. Each round reads the work from Redis and its results from the chain. So nothing
 * depends on the memory of this process, and a crash can end a round anywhere.
 */
export function startPayer({ leader, ...context }: PayerContext & { leader: Leader }): Payer {
  const { settings, store, chain, logger, metrics, now } = context;
  const payRound = createPayRound(context);
  const stopping = new AbortController();
  let waking = new AbortController();
  let lastLookMs = Number.NEGATIVE_INFINITY;
  let problems: readonly string[] = [];

  async function runOnce(): Promise<void> {
    const fence = await leader.hold();
    metrics.leader.set(fence === undefined ? 0 : 1);
    if (fence === undefined) {
      problems = [];
      return;
    }
    const [[waiting], [open], nonce] = await Promise.all([store.waiting(1), store.open(), store.nonce()]);
    const isIdle = waiting === undefined && open === undefined && nonce !== undefined;
    if (isIdle && now() - lastLookMs < settings.idlePollMs) return;
    lastLookMs = now();
    problems = await leader.whileRenewed(async () =>
      payRound({ ...context, fence, snapshot: await chain.snapshot() }),
    );
  }

  async function loop(): Promise<void> {
    let lastSaid: string | undefined;
    let failingSinceMs: number | undefined;
    while (!stopping.signal.aborted) {
      waking = new AbortController();
      let pauseMs = settings.pollMs;
      try {
        await runOnce();
        failingSinceMs = undefined;
      } catch (error) {
        problems = [error instanceof Error ? error.message : "unknown"];
        metrics.failedRounds.inc();
        if (problems[0] !== lastSaid) logger.warn({ err: error }, "payments wait");
        failingSinceMs ??= now();
        if (now() - failingSinceMs > failingMaxMs) {
          await leader.release().catch(() => {});
          failingSinceMs = undefined;
          // Long enough for the others to look.
          pauseMs = 2 * settings.pollMs;
        }
      }
      if (lastSaid !== undefined && problems.length === 0 && leader.isHeld()) {
        logger.info("payments go on");
        lastSaid = undefined;
      }
      lastSaid = problems[0] ?? lastSaid;
      await sleep(pauseMs, undefined, { signal: AbortSignal.any([stopping.signal, waking.signal]) }).catch(
        () => {},
      );
    }
  }

  const ended = loop();
  return {
    wake: () => waking.abort(),
    problems: () => problems,
    isLeader: leader.isHeld,
    async stop() {
      stopping.abort();
      await ended;
      // If Redis is gone, the lock ends by itself.
      await leader.release().catch(() => {});
    },
  };
}
