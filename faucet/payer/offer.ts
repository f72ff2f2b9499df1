import type { SignedClaim } from "../claims/claim.ts";
import type { Round } from "./payer-context.ts";

/** Transactions that are sent at once. */
const sendsAtOnce = 16;
/** How soon a transaction is offered again that a node did not take. */
const retryMs = 1000;

/**
 * Offers signed bytes to the chain, always the same ones; of a claim that was given up, a transaction that pays nobody. What
 * a node has taken is offered again after `resendAfterMs`, since a pool can lose it; what it refused, after a second.
 */
export function createOffers({ resendAfterMs }: { resendAfterMs: number }) {
  /** When a transaction is to be offered next, by its hash; what is not in here is offered at once. */
  const nextOfferMs = new Map<string, number>();
  const refusals = new Map<string, { why: string; sinceMs: number }>();

  async function offer(round: Round, claim: SignedClaim): Promise<void> {
    const { chain, store, wallet, fence, logger, metrics, now, atPoint } = round;
    await atPoint("before send");
    const sent = await chain.send(
      claim.givenUp === undefined ? claim.raw : await wallet.signNothing({ nonce: claim.nonce }),
    );
    await atPoint("after send");
    if (sent.outcome !== "refused") {
      refusals.delete(claim.txHash);
      // A used nonce is settled by what was mined at it.
      if (sent.outcome === "accepted" && claim.status === "signed") await store.markBroadcast(fence, claim);
      // Only now: where the mark failed, the next offer makes it.
      nextOfferMs.set(claim.txHash, now() + (sent.outcome === "accepted" ? resendAfterMs : retryMs));
      await atPoint("after mark");
      return;
    }
    nextOfferMs.set(claim.txHash, now() + retryMs);
    metrics.refusedSends.inc();
    const before = refusals.get(claim.txHash);
    if (before?.why !== sent.why) {
      logger.error({ claim: claim.id, why: sent.why }, "the node refuses a payment; it is offered again");
    }
    refusals.set(claim.txHash, { why: sent.why, sinceMs: before?.sinceMs ?? now() });
  }

  return {
    /**
     * Offers what is due, in the order of the nonces. `refused`: why a node does not want one of them. Nothing further
     * should be signed then: it would wait behind that nonce.
     */
    async offer(round: Round, open: readonly SignedClaim[]): Promise<{ refused: string | undefined }> {
      const hashes = new Set(open.map(({ txHash }) => txHash));
      for (const known of [nextOfferMs, refusals]) {
        for (const txHash of known.keys()) if (!hashes.has(txHash)) known.delete(txHash);
      }
      const due = open.filter(({ txHash }) => (nextOfferMs.get(txHash) ?? 0) <= round.now());
      for (let at = 0; at < due.length; at += sendsAtOnce) {
        await Promise.all(due.slice(at, at + sendsAtOnce).map((claim) => offer(round, claim)));
      }
      return { refused: refusals.values().next().value?.why };
    },

    /** For how long nodes have refused a claim's transaction each time; 0 where they do not. */
    refusedForMs({ now }: Round, { txHash }: SignedClaim): number {
      const refused = refusals.get(txHash);
      return refused === undefined ? 0 : now() - refused.sinceMs;
    },
  };
}
