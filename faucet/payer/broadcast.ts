import type { SendOutcome } from "../chain/wallet-chain.ts";
import type { SignedClaim } from "../claims/claim.ts";
import type { PayerSettings, Round } from "./payer-context.ts";
import { createRefusals } from "./refusals.ts";

/** Transactions that are sent at once. */
const sendsAtOnce = 16;
/** The longest pause before a transaction that a node did not take is broadcast again. */
const retryMaxMs = 1000;

/**
 * Broadcasts the signed bytes of claims, always the same ones. For a claim that was given up it broadcasts a transaction that
 * pays nobody. A transaction that a node has taken goes out again after `resendAfterMs`, because a pool can lose it, any
 * other after a second.
 */
export function createBroadcaster({ settings }: { settings: Pick<PayerSettings, "resendAfterMs"> }) {
  /** When a transaction is due next, by its hash. One that is not listed is due at once. */
  const nextBroadcastMs = new Map<string, number>();
  const refusals = createRefusals();
  /** Why it is unknown whether a node has the transaction, by its hash. */
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

  /** The transaction may have arrived, so that an earlier refusal no longer counts. */
  function noteUnclear(claim: SignedClaim, why: string): void {
    refusals.forget(claim);
    unclear.set(claim.txHash, why);
  }

  async function broadcastOne(round: Round, claim: SignedClaim): Promise<void> {
    const { store, fence, logger, metrics, now, atPoint } = round;
    await atPoint("before send");
    nextBroadcastMs.set(claim.txHash, now() + Math.min(retryMaxMs, settings.resendAfterMs));
    const sent = await send(round, claim);
    await atPoint("after send");
    if (sent.outcome === "unclear") return noteUnclear(claim, sent.why);
    unclear.delete(claim.txHash);
    if (sent.outcome === "refused") {
      metrics.refusedSends.inc();
      const { isNews } = refusals.note(round, claim, sent.why);
      if (isNews)
        logger.error({ claim: claim.id, why: sent.why }, "the node refuses a payment; it is broadcast again");
      return;
    }
    refusals.forget(claim);
    if (sent.outcome === "accepted") {
      // The transaction that was mined at a used nonce settles its claim.
      if (claim.status === "signed") {
        // If the mark fails, the next broadcast sets it.
        nextBroadcastMs.delete(claim.txHash);
        await store.markBroadcast(fence, claim);
      }
      nextBroadcastMs.set(claim.txHash, now() + settings.resendAfterMs);
    }
    await atPoint("after mark");
  }

  return {
    /**
     * Broadcasts the transactions that are due, in the order of the nonces. `problem` says why a node does not have one of
     * them. Nothing more should be signed then: it would wait behind that nonce.
     */
    async broadcast(round: Round, open: readonly SignedClaim[]): Promise<{ problem: string | undefined }> {
      const hashes = new Set(open.map(({ txHash }) => txHash));
      refusals.keep(hashes);
      for (const known of [nextBroadcastMs, unclear]) {
        for (const txHash of known.keys()) if (!hashes.has(txHash)) known.delete(txHash);
      }
      const due = open.filter(({ txHash }) => (nextBroadcastMs.get(txHash) ?? 0) <= round.now());
      for (let at = 0; at < due.length; at += sendsAtOnce) {
        const batch = due.slice(at, at + sendsAtOnce).map((claim) => broadcastOne(round, claim));
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
