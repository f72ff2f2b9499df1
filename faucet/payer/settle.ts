import type { SignedClaim } from "../claims/claim.ts";
import { restorePayment } from "./backfill.ts";
import type { Round } from "./payer-context.ts";

/** How many nonces are searched for in one round. Each can take a few requests. */
const searchesMax = 10;

/**
 * Ends the claims whose nonce is mined: confirmed or refused by their receipt. A missing receipt proves nothing, since a
 * node can be behind. Only where *another* transaction is found mined at a claim's nonce is its own lost; then it is
 * signed anew, or refused where it was given up. Answers the claims that are still open.
 */
export async function settle(round: Round, open: readonly SignedClaim[]): Promise<SignedClaim[]> {
  const due = open.filter(({ nonce }) => nonce < round.snapshot.nonce);
  if (due.length === 0) return [...open];
  const receipts = await round.chain.receipts(due.map(({ txHash }) => txHash));
  const ended = new Set<string>();
  let searches = 0;

  await round.atPoint("before end");
  await Promise.all(
    due.map(async (claim) => {
      const receipt = receipts.get(claim.txHash);
      if (receipt === undefined) return;
      await end(round, claim, receipt);
      ended.add(claim.id);
    }),
  );
  for (const claim of due) {
    if (receipts.has(claim.txHash) || searches === searchesMax) continue;
    searches += 1;
    if (await requeueIfLost(round, claim)) ended.add(claim.id);
  }
  await round.atPoint("after end");
  return open.filter(({ id }) => !ended.has(id));
}

async function end(
  { store, fence, metrics, logger, now }: Round,
  claim: SignedClaim,
  { succeeded, blockNumber: block }: { succeeded: boolean; blockNumber: number },
): Promise<void> {
  const changed = succeeded
    ? await store.confirm(fence, claim, { block })
    : await store.refuse(fence, claim, { reason: "The transaction was reverted by its recipient", block });
  if (!changed) return;
  metrics.ended.inc({ status: succeeded ? "confirmed" : "refused" });
  if (succeeded) metrics.confirmSeconds.observe(Math.max(0, now() - claim.createdAtMs) / 1000);
  logger.info(
    { claim: claim.id, txHash: claim.txHash, block, succeeded },
    succeeded ? "claim confirmed" : "claim reverted",
  );
}

async function requeueIfLost(round: Round, claim: SignedClaim): Promise<boolean> {
  const { chain, store, fence, snapshot, metrics, logger } = round;
  const mined = await chain.minedAt({ nonce: claim.nonce, height: snapshot.height });
  if (mined === undefined || mined.hash === claim.txHash.toLowerCase()) return false;
  // It may be a claim's transaction too, if Redis has lost the signature. That claim must not be paid again.
  await restorePayment(round, mined);
  if (claim.givenUp !== undefined) return endGivenUp(round, { ...claim, givenUp: claim.givenUp }, mined);
  if (!(await store.requeue(fence, claim))) return false;
  metrics.lost.inc();
  logger.warn(
    { claim: claim.id, nonce: claim.nonce, minedInstead: mined.hash },
    "another transaction was mined at a claim's nonce; the claim is signed again",
  );
  return true;
}

async function endGivenUp(
  { store, fence, metrics, logger }: Round,
  claim: SignedClaim & { givenUp: string },
  { blockNumber: block }: { blockNumber: number },
): Promise<boolean> {
  if (!(await store.refuse(fence, claim, { reason: claim.givenUp, block }))) return false;
  metrics.ended.inc({ status: "refused" });
  logger.warn({ claim: claim.id, nonce: claim.nonce, block }, "a claim that was given up has ended");
  return true;
}
