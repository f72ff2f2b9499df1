import type { SignedClaim } from "../claims/claim.ts";
import type { Round } from "./payer-context.ts";

/**
 * Gives up the claim whose nonce is the next one on the chain, where nodes have refused its transaction for
 * `giveUpAfterMs`, in new blocks too, although the wallet has the funds and the base fee is within its price.
 *
 * The bytes are out and may still be mined, so no other claim may have the nonce. A transaction that pays nobody is
 * broadcast at the nonce instead. Which of the two is mined decides whether the claim ends as confirmed or as refused.
 */
export async function giveUpRefused(
  round: Round,
  {
    open,
    refusedForMs,
  }: { open: readonly SignedClaim[]; refusedForMs: (round: Round, claim: SignedClaim) => number },
): Promise<void> {
  const { snapshot, wallet, store, fence, settings, logger } = round;
  const claim = open.find(({ nonce }) => nonce === snapshot.nonce);
  if (claim === undefined || claim.givenUp !== undefined) return;
  if (snapshot.baseFeeWei > wallet.maxFeePerGasWei) return;
  if (refusedForMs(round, claim) < settings.giveUpAfterMs) return;
  if (snapshot.balanceWei < claim.amountWei + wallet.feeMaxWei) return;
  if (!(await store.giveUp(fence, claim, { reason: "The network does not take the transaction" }))) return;
  logger.error(
    { claim: claim.id, txHash: claim.txHash, nonce: claim.nonce },
    "the node keeps refusing a payment; it is given up, and its nonce is filled with a transaction that pays nobody",
  );
}
