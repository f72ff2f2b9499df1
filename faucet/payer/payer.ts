import { setTimeout as sleep } from "node:timers/promises";
import { createOffers } from "./broadcast.ts";
import { giveUpRefused } from "./give-up-refused.ts";
import type { Leader } from "./leader.ts";
import { createNextNonce } from "./next-nonce.ts";
import { baseFeeTooHigh, type PayerContext, type Round } from "./payer-context.ts";
import { settle } from "./settle.ts";
import { signWaiting } from "./sign-waiting.ts";

/** A leader that fails for so long lets another replica try, which may reach the chain where this one does not. */
const failingMaxMs = 3000;

export type Payer = {
  /** There is something to pay: no need to wait for the next look. */
  wake(): void;
  /** What keeps claims from being paid at the moment, in words; empty where nothing does. */
  problems(): readonly string[];
  isLeader(): boolean;
  /** Ends after the step that is under way, and gives leadership back. */
  stop(): Promise<void>;
};

/**
 * Pays what was claimed, on one replica at a time. Each round reads from Redis what is to be done and from the chain what
 * has become of it, so that nothing depends on what this process remembers, and any round can be cut short anywhere.
 */
export function startPayer({
  leader,
  pollMs,
  idlePollMs,
  resendAfterMs,
  ...context
}: PayerContext & { leader: Leader; pollMs: number; idlePollMs: number; resendAfterMs: number }): Payer {
  const { store, chain, logger, metrics, now } = context;
  const nextNonce = createNextNonce({ now });
  const offers = createOffers({ resendAfterMs });
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
    if (isIdle && now() - lastLookMs < idlePollMs) return;
    lastLookMs = now();
    problems = await leader.whileRenewed(async () =>
      payRound({ ...context, fence, snapshot: await chain.snapshot() }),
    );
  }

  async function payRound(round: Round): Promise<string[]> {
    const { snapshot } = round;
    if (snapshot.genesisHash !== context.genesisHash) {
      return ["the node is on another chain: nothing is paid until it is back on the right one"];
    }
    const bound = await store.chain();
    if (bound !== undefined && !isBoundTo(bound, context)) {
      return ["Redis has been given to another chain or wallet: this replica pays nothing any more"];
    }
    const { balanceWei, height } = snapshot;
    await store.publishWallet({ balanceWei, height, atMs: now(), waits: feeProblem(round)[0] ?? "" });
    const nonce = await nextNonce.find(round);
    if (nonce === undefined) return ["the wallet's transactions on the chain are being looked through"];
    await reopenForgotten(round);

    const open = await settle(round, await store.open());
    const offered = await offers.offer(round, open);
    if (offered.problem !== undefined) {
      await giveUpRefused(round, { open, refusedForMs: offers.refusedForMs });
      return [...feeProblem(round), offered.problem];
    }
    // What nodes hold or take is mined once the base fee falls; further payments would only fill their pools.
    if (feeProblem(round).length > 0) return feeProblem(round);
    const { signed, hindrance } = await signWaiting(round, {
      open,
      firstNonce: nonce,
      isNonceFree: () => nextNonce.isFree(round, nonce),
    });
    await offers.offer(round, [...open, ...signed]);
    const lowest = open[0]?.nonce ?? snapshot.nonce;
    return [
      ...(hindrance === undefined ? [] : [hindrance]),
      ...(lowest > snapshot.nonce ? [`nonce ${snapshot.nonce} is missing on the chain`] : []),
    ];
  }

  /** A dev chain that was killed or reverted comes back at an earlier block, and knows less than was confirmed. */
  async function reopenForgotten(round: Round): Promise<void> {
    const { snapshot, fence } = round;
    const last = await store.lastPaid();
    const isForgotten =
      last?.blockNumber !== undefined && last.nonce >= snapshot.nonce && last.blockNumber <= snapshot.height;
    if (!isForgotten) return;
    const forgotten = await store.paidFrom(snapshot.nonce);
    logger.warn(
      { claims: forgotten.length },
      "the chain went back; the payments that it forgot are offered again",
    );
    for (const claim of forgotten) await store.reopen(fence, claim);
  }

  async function loop(): Promise<void> {
    let lastSaid: string | undefined;
    let failingSinceMs: number | undefined;
    while (!stopping.signal.aborted) {
      waking = new AbortController();
      let pauseMs = pollMs;
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
          pauseMs = 2 * pollMs;
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
      // Where Redis is gone the lock ends by itself.
      await leader.release().catch(() => {});
    },
  };
}

/** A base fee above what payments offer is no fault of theirs: it passes. */
function feeProblem({ snapshot: { baseFeeWei }, wallet: { maxFeePerGasWei } }: Round): string[] {
  return baseFeeWei > maxFeePerGasWei ? [baseFeeTooHigh] : [];
}

function isBoundTo(
  bound: { genesisHash: string; wallet: string },
  { genesisHash, wallet }: Pick<PayerContext, "genesisHash" | "wallet">,
): boolean {
  return bound.genesisHash === genesisHash && bound.wallet === wallet.address;
}
