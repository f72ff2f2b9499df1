import type { Claim } from "../claims/claim.ts";

/** A claim as a client sees it; `amount` in wei as a decimal string, `txHash` null until there is a transaction. */
export type ClaimView = {
  id: string;
  address: string;
  amount: string;
  status: Claim["status"];
  txHash: string | null;
  createdAt: string;
  /** Of a confirmed claim. */
  blockNumber?: number;
  /** Why a claim was refused. */
  reason?: string;
};

export function claimView(claim: Claim): ClaimView {
  const { id, address, amountWei, status, txHash, createdAtMs, blockNumber, reason } = claim;
  return {
    id,
    address,
    amount: String(amountWei),
    status,
    txHash: txHash ?? null,
    createdAt: new Date(createdAtMs).toISOString(),
    ...(blockNumber === undefined ? {} : { blockNumber }),
    ...(reason === undefined ? {} : { reason }),
  };
}
