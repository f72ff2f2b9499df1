import type { SignedClaim } from "../claims/claim.ts";
import type { Round } from "./payer-context.ts";

/** The clock, the chain and the wallet's price, as a round has them. */
type Moment = Pick<Round, "now"> & {
  snapshot: Pick<Round["snapshot"], "height" | "baseFeeWei">;
  wallet: Pick<Round["wallet"], "maxFeePerGasWei">;
};
type Broadcast = Pick<SignedClaim, "txHash">;

/** A refusal has to outlast this many new blocks: a network that resumes may refuse once more. */
const blocksMin = 2;

/**
 * Why nodes refuse transactions, by hash. A refusal lasts as long as each later answer is a refusal too. An answer that says
 * nothing about the transaction (an outage, a stall) restarts its time, since a node that was away may decide otherwise.
 */
export function createRefusals() {
  const refusals = new Map<string, { why: string; sinceMs: number; sinceHeight: number; height: number }>();

  return {
    /** `isNews`: the node gives another reason than before. */
    note({ now, snapshot, wallet }: Moment, { txHash }: Broadcast, why: string): { isNews: boolean } {
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

    forget: ({ txHash }: Broadcast) => void refusals.delete(txHash),

    /** Keeps those of these transactions only. */
    keep(hashes: ReadonlySet<string>): void {
      for (const txHash of refusals.keys()) if (!hashes.has(txHash)) refusals.delete(txHash);
    },

    /** Why a node does not want one of the transactions. */
    first: (): string | undefined => refusals.values().next().value?.why,

    /** How long nodes have refused it again and again, while the chain made blocks; 0 if they do not. */
    refusedForMs({ now }: Pick<Moment, "now">, { txHash }: Broadcast): number {
      const refused = refusals.get(txHash);
      if (refused === undefined || refused.height < refused.sinceHeight + blocksMin) return 0;
      return now() - refused.sinceMs;
    },
  };
}
