import { createBroadcaster } from "./broadcast.ts";
import { giveUpRefused } from "./give-up-refused.ts";
import { createNextNonce } from "./next-nonce.ts";
import { baseFeeTooHigh, type PayerContext, type Round } from "./payer-context.ts";
import { settle } from "./settle.ts";
import { signWaiting } from "./sign-waiting.ts";

/**
 * One round of payments: reads the state of each claim from the chain and from Redis, then settles, broadcasts and
 * signs. Returns why payments wait, in words; empty if they do not.
 */
export function createPayRound(context: PayerContext): (round: Round) => Promise<string[]> {
  const { store, now } = context;
  const nextNonce = createNextNonce({ now });
  const broadcaster = createBroadcaster(context);

  return async function payRound(round: Round): Promise<string[]> {
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
    if (nonce === undefined) return ["the wallet's earlier payments are being read from the chain"];
    await reopenForgotten(round);

    const open = await settle(round, await store.open());
    const sent = await broadcaster.broadcast(round, open);
    if (sent.problem !== undefined) {
      await giveUpRefused(round, { open, refusedForMs: broadcaster.refusedForMs });
      return [...feeProblem(round), sent.problem];
    }
    // The nodes' transactions are mined once the base fee falls. Further payments would only fill the pools.
    if (feeProblem(round).length > 0) return feeProblem(round);
    const { signed, hindrance } = await signWaiting(round, {
      open,
      firstNonce: nonce,
      isNonceFree: () => nextNonce.isFree(round, nonce),
    });
    await broadcaster.broadcast(round, [...open, ...signed]);
    const lowest = open[0]?.nonce ?? snapshot.nonce;
    return [
      ...(hindrance === undefined ? [] : [hindrance]),
      ...(lowest > snapshot.nonce ? [`nonce ${snapshot.nonce} is missing on the chain`] : []),
    ];
  };
}

/** A dev chain that was killed or reverted comes back at an earlier block, and knows less than was confirmed. */
async function reopenForgotten({ snapshot, fence, store, logger }: Round): Promise<void> {
  const last = await store.lastPaid();
  const isForgotten =
    last?.blockNumber !== undefined && last.nonce >= snapshot.nonce && last.blockNumber <= snapshot.height;
  if (!isForgotten) return;
  const forgotten = await store.paidFrom(snapshot.nonce);
  logger.warn(
    { claims: forgotten.length },
    "the chain went back; the payments that it forgot are broadcast again",
  );
  for (const claim of forgotten) await store.reopen(fence, claim);
}

/** A base fee above the price of payments is temporary, and no fault of theirs. */
function feeProblem({ snapshot: { baseFeeWei }, wallet: { maxFeePerGasWei } }: Round): string[] {
  return baseFeeWei > maxFeePerGasWei ? [baseFeeTooHigh] : [];
}

function isBoundTo(
  bound: { genesisHash: string; wallet: string },
  { genesisHash, wallet }: Pick<PayerContext, "genesisHash" | "wallet">,
): boolean {
  return bound.genesisHash === genesisHash && bound.wallet === wallet.address;
}
