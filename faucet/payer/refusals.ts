import type { SignedClaim } from "../claims/claim.ts";
import type { Round } from "./payer-context.ts";

/** The clock, the chain and the wallet's price, as a round has them. */
type Moment = Pick<Round, "now"> & {
  snapshot: Pick<Round["snapshot"], "height" | "baseFeeWei">;
  wallet: Pick<Round["wallet"], "maxFeePerGasWei">;
};
type Offered = Pick<SignedClaim, "txHash">;

/** New blocks that a refusal has to outlast: one can come in the moment in which a network goes on. */
const blocksMin = 2;

/**
 * What nodes say against transactions, by hash. A refusal counts as long as each later answer is one too; an answer that
 * says nothing about the transaction (an outage, a stall) begins it anew, since a node that was away may think otherwise.
 */
export function createRefusals() {
  const refusals = new Map<string, { why: string; sinceMs: number; sinceHeight: number; height: number }>();

  return {
    /** `isNews`: the node gives another reason than before. */
    note({ now, snapshot, wallet }: Moment, { txHash }: Offered, why: string): { isNews: boolean } {
      const { height, baseFeeWei } = snapshot;
      const before = refusals.get(txHash);
      // A base fee above the price refuses everything, and passes.
      const goesOn = before !== undefined && baseFeeWei <= wallet.maxFeePerGasWei;
      const since = goesOn
        ? { sinceMs: before.sinceMs, sinceHeight: before.sinceHeight }
        : { sinceMs: now(), sinceHeight: height };
      refusals.set(txHash, { why, ...since, height });
      return { isNews: before?.why !== why };
    },

    forget: ({ txHash }: Offered) => void refusals.delete(txHash),

    /** Keeps those of these transactions only. */
    keep(hashes: ReadonlySet<string>): void {
      for (const txHash of refusals.keys()) if (!hashes.has(txHash)) refusals.delete(txHash);
    },

    /** Why a node does not want one of the transactions. */
    first: (): string | undefined => refusals.values().next().value?.why,

    /** For how long nodes have refused it, over and over, while the chain made blocks; 0 where they do not. */
    refusedForMs({ now }: Pick<Moment, "now">, { txHash }: Offered): number {
      const refused = refusals.get(txHash);
      if (refused === undefined || refused.height < refused.sinceHeight + blocksMin) return 0;
      return now() - refused.sinceMs;
    },
  };
}
