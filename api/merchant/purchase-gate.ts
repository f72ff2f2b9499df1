import { type Refusal, refusal } from "../../lib/http-service/refusal.ts";
import type { LedgerStanding } from "./ledger/standing.ts";

const retrySoon = { retryAfterMs: 2000 };

export type PurchaseGate = {
  /** Why nobody can order at the moment; undefined where everything is there. */
  orderProblem(): Refusal | undefined;
  /** Why no payment can be seen at the moment, beside a PostgreSQL that does not answer, which shows by itself. */
  paymentProblem(): Refusal | undefined;
};

/**
 * Whether things can be bought. An order that could not be seen to be paid would take somebody's money for nothing; without Redis no
 * key can be revoked in time, so none is sold.
 */
export function createPurchaseGate({
  isSelling,
  isRedisAway,
  isChainAway,
  isStalled,
  ledger,
}: {
  isSelling: boolean;
  isRedisAway: () => boolean;
  isChainAway: () => boolean;
  isStalled: () => boolean;
  ledger: () => Pick<LedgerStanding, "epoch" | "refused" | "waitsFor">;
}): PurchaseGate {
  function paymentProblem(): Refusal | undefined {
    if (isChainAway()) {
      return refusal(
        "upstream_unavailable",
        "The chain cannot be asked at the moment; try again shortly",
        retrySoon,
      );
    }
    if (isStalled()) {
      return refusal(
        "network_stalled",
        "The network produces no blocks at the moment, so nothing can be paid; try again later",
        retrySoon,
      );
    }
    const { epoch, refused, waitsFor } = ledger();
    if (waitsFor !== undefined) return notThereYet;
    return refused === undefined && epoch !== undefined ? undefined : notFollowed;
  }

  return {
    paymentProblem,
    orderProblem() {
      if (!isSelling) return notSelling;
      return isRedisAway() ? notWithoutRedis : paymentProblem();
    },
  };
}

export const notSelling = refusal(
  "service_unavailable",
  "No keys are sold here: whoever runs this has set up no signer of orders",
);
const notWithoutRedis = refusal(
  "service_unavailable",
  "Nothing can be bought at the moment; try again shortly",
  retrySoon,
);
const notThereYet = refusal(
  "service_unavailable",
  "The contract that takes payments is not on this chain yet; try again later",
  retrySoon,
);
const notFollowed = refusal(
  "service_unavailable",
  "Payments are not followed at the moment: do not pay now, and try again later",
  retrySoon,
);
