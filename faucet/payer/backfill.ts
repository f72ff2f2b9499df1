import { getAddress } from "ethers/address";
import { ChainUnavailableError } from "../../lib/chain/rpc-client.ts";
import type { MinedTransaction } from "../chain/mined-search.ts";
import { claimIdOf } from "../chain/payment-data.ts";
import type { Round } from "./payer-context.ts";

/** Nonces that are looked at: with the default cap of a day, all payments of that day. */
const lookedAtMax = 1000;

/**
 * Reads the wallet's mined transactions from nonce `before` down to `from` and writes those that pay a claim and
 * that Redis does not know into Redis, so that they count in the limits and are never paid again. Ends early at
 * transactions older than the limits' window. `complete: false` where the node could not tell all of them.
 */
export async function lookThrough(
  round: Round,
  { from, before }: { from: number; before: number },
): Promise<{ complete: boolean; restored: number }> {
  let restored = 0;
  for (let nonce = before - 1; nonce >= Math.max(from, before - lookedAtMax); nonce -= 1) {
    const mined = await round.chain.minedAt({ nonce, height: round.snapshot.height });
    if (mined === undefined) return { complete: false, restored };
    if (mined.minedAtMs + round.settings.limits.windowMs < round.now()) break;
    if (await restorePayment(round, mined)) restored += 1;
  }
  if (restored > 0) await refusePaidAlready(round);
  return { complete: true, restored };
}

/**
 * Between a loss of Redis and the look at the chain, an address that was paid could claim anew: such a claim ends here,
 * unsigned.
 */
async function refusePaidAlready({ store, fence, settings, metrics, logger }: Round): Promise<void> {
  for (const claim of (await store.allWaiting()).toReversed()) {
    if ((await store.countOf(claim.address)) <= settings.limits.perAddress) continue;
    if (!(await store.refuse(fence, claim, { reason: "The address had its claim already" }))) continue;
    metrics.ended.inc({ status: "refused" });
    logger.warn({ claim: claim.id }, "a claim for an address that was paid before Redis lost its claim");
  }
}

/** Writes a payment that was found on the chain into Redis. False where the transaction is not a payment, or is known already. */
export async function restorePayment(round: Round, mined: MinedTransaction): Promise<boolean> {
  const claimId = claimIdOf(mined.data);
  if (claimId === undefined) return false;
  const receipt = (await round.chain.receipts([mined.hash])).get(mined.hash);
  if (receipt === undefined)
    throw new ChainUnavailableError("the node has no receipt of a mined transaction");
  // If the recipient reverted the payment, nobody was paid.
  if (!receipt.succeeded) return false;
  await round.atPoint("before restore");
  const isNew = await round.store.restore(round.fence, {
    claimId,
    address: getAddress(mined.to),
    amountWei: mined.valueWei,
    nonce: mined.nonce,
    txHash: mined.hash,
    blockNumber: mined.blockNumber,
    minedAtMs: mined.minedAtMs,
  });
  if (isNew) {
    round.metrics.restored.inc();
    round.logger.warn(
      { claim: claimId, txHash: mined.hash },
      "a payment on the chain was unknown to Redis; it is now known",
    );
  }
  return isNew;
}
