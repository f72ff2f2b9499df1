import type { SendOutcome } from "../chain/wallet-chain.ts";
import type { SignedClaim } from "../claims/claim.ts";
import type { Round } from "./payer-context.ts";
import { createRefusals } from "./refusals.ts";

/** Transactions that are sent at once. */
const sendsAtOnce = 16;
/** How soon a transaction is offered again that a node did not take, at most. */
const retryMaxMs = 1000;

/**
 * Offers signed bytes to the chain, always the same ones; of a claim that was given up, a transaction that pays nobody. What
 * a node has taken is offered again after `resendAfterMs`, since a pool can lose it; anything else after a second.
 */
export function createOffers({ resendAfterMs }: { resendAfterMs: number }) {
  const retryMs = Math.min(retryMaxMs, resendAfterMs);
  /** When a transaction is to be offered next, by its hash; what is not in here is offered at once. */
  const nextOfferMs = new Map<string, number>();
  const refusals = createRefusals();
  /** Why nobody knows whether a node has the transaction, by its hash. */
  const unclear = new Map<string, string>();

  async function send({ chain, wallet, snapshot }: Round, claim: SignedClaim): Promise<SendOutcome> {
    const { raw, nonce, givenUp } = claim;
    const { baseFeeWei } = snapshot;
    const bytes = givenUp === undefined ? raw : await wallet.signNothing({ nonce, baseFeeWei });
    return chain.send(bytes).catch((error: unknown) => {
      noteUnclear(claim, "the node does not answer");
      throw error;
    });
  }

  /** It may have arrived. What a node thought of it before is its latest word no more. */
  function noteUnclear(claim: SignedClaim, why: string): void {
    refusals.forget(claim);
    unclear.set(claim.txHash, why);
  }

  async function offer(round: Round, claim: SignedClaim): Promise<void> {
    const { store, fence, logger, metrics, now, atPoint } = round;
    await atPoint("before send");
    nextOfferMs.set(claim.txHash, now() + retryMs);
    const sent = await send(round, claim);
    await atPoint("after send");
    if (sent.outcome === "unclear") return noteUnclear(claim, sent.why);
    unclear.delete(claim.txHash);
    if (sent.outcome === "refused") {
      metrics.refusedSends.inc();
      const { isNews } = refusals.note(round, claim, sent.why);
      if (isNews)
        logger.error({ claim: claim.id, why: sent.why }, "the node refuses a payment; it is offered again");
      return;
    }
    refusals.forget(claim);
    if (sent.outcome === "accepted") {
      // A used nonce is settled by what was mined at it.
      if (claim.status === "signed") {
        // Where the mark fails, the next offer makes it.
        nextOfferMs.delete(claim.txHash);
        await store.markBroadcast(fence, claim);
      }
      nextOfferMs.set(claim.txHash, now() + resendAfterMs);
    }
    await atPoint("after mark");
  }

  return {
    /**
     * Offers what is due, in the order of the nonces. `problem`: why a node does not have one of them, in words. Nothing
     * further should be signed then: it would wait behind that nonce.
     */
    async offer(round: Round, open: readonly SignedClaim[]): Promise<{ problem: string | undefined }> {
      const hashes = new Set(open.map(({ txHash }) => txHash));
      refusals.keep(hashes);
      for (const known of [nextOfferMs, unclear]) {
        for (const txHash of known.keys()) if (!hashes.has(txHash)) known.delete(txHash);
      }
      const due = open.filter(({ txHash }) => (nextOfferMs.get(txHash) ?? 0) <= round.now());
      for (let at = 0; at < due.length; at += sendsAtOnce) {
        const batch = due.slice(at, at + sendsAtOnce).map((claim) => offer(round, claim));
        const failed = (await Promise.allSettled(batch)).find(({ status }) => status === "rejected");
        if (failed?.status === "rejected") throw failed.reason;
      }
      const refused = refusals.first();
      const [missed] = unclear.values();
      if (refused !== undefined) return { problem: `the node refuses a payment: ${refused}` };
      return { problem: missed === undefined ? undefined : `a payment waits for a node: ${missed}` };
    },

    refusedForMs: refusals.refusedForMs,
  };
}
