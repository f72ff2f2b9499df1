import type { SignedClaim } from "../claims/claim.ts";
import type { Round } from "./payer-context.ts";

/**
 * Gives up the claim whose nonce is the next one on the chain, where nodes have refused its transaction for
 * `giveUpAfterMs`, in new blocks too, although the wallet has the funds and the base fee is within its price. Its bytes are out, so that its nonce may not go to another claim,
 * and it may still be mined: a transaction that pays nobody is offered at the nonce instead, and which of the two is
 * mined there decides whether the claim ends as confirmed or as refused.
 */
export async function giveUpRefused(
  round: Round,
  {
    open,
    refusedForMs,
  }: { open: readonly SignedClaim[]; refusedForMs: (round: Round, claim: SignedClaim) => number },
): Promise<void> {
  const { snapshot, wallet, store, fence, giveUpAfterMs, logger } = round;
  const claim = open.find(({ nonce }) => nonce === snapshot.nonce);
  if (claim === undefined || claim.givenUp !== undefined) return;
  if (snapshot.baseFeeWei > wallet.maxFeePerGasWei) return;
  if (refusedForMs(round, claim) < giveUpAfterMs) return;
  if (snapshot.balanceWei < claim.amountWei + wallet.feeMaxWei) return;
  if (!(await store.giveUp(fence, claim, { reason: "The network does not take the transaction" }))) return;
  logger.error(
    { claim: claim.id, txHash: claim.txHash, nonce: claim.nonce },
    "a payment is refused by the node all the time; it is given up, and its nonce filled with nothing",
  );
}
