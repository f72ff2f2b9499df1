import { isRefusal, type Refusal, refusal } from "../../../lib/http-service/refusal.ts";
import type { PostgresPool } from "../../../lib/postgres/postgres-pool.ts";
import type { ChainReader } from "../../chain/chain-reader.ts";
import type { MerchantKeys } from "../open-merchant-keys.ts";
import { publicId } from "../public-id.ts";
import { notSelling, type PurchaseGate } from "../purchase-gate.ts";
import type { WalletTurns } from "../wallet-turns.ts";
import { explainTransaction } from "./explain-transaction.ts";
import type { KeyRequest } from "./key-request.ts";
import { type OrderTerms, openOrder } from "./open-order.ts";
import { type Order, statusOf } from "./order.ts";
import { orderRecordOf } from "./order-record.ts";
import { findOrder, listOrders } from "./order-store.ts";

export type Orders = ReturnType<typeof createOrders>;

/** The next block is there after so long at most, and is booked with it. */
const askAgainMs = 2000;

/** Orders of keys: made, looked at, and told of as what has to be paid first (402). */
export function createOrders({
  pool,
  reader,
  gate,
  turns,
  terms,
  merchantKeys,
  clock,
}: {
  pool: PostgresPool;
  reader: Pick<ChainReader, "transaction" | "call">;
  gate: PurchaseGate;
  turns: WalletTurns;
  terms: OrderTerms;
  merchantKeys: Pick<MerchantKeys, "feeCollector" | "signingKey"> | undefined;
  /** Unix milliseconds that the chain's next block will not be before. */
  clock: () => number;
}) {
  const paymentRequired = (order: Order, detail: string, retryAfterMs?: number): Refusal =>
    refusal("payment_required", detail, {
      members: { order: orderRecordOf(order, clock()) },
      headers: { Location: `/api/v1/svc-dev/orders/${publicId("ord", order.id)}` },
      ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
    });

  return {
    terms,
    clock,
    find: (id: string) => findOrder(pool, id),
    list: (wallet: string, limit: number) => listOrders(pool, { wallet, limit }),

    /** A new order, which is always a refusal: it has to be paid first, or there is none to be had. */
    async open(wallet: string, request: KeyRequest): Promise<Refusal> {
      const problem = gate.orderProblem();
      if (problem !== undefined || merchantKeys === undefined) return problem ?? notSelling;
      const { feeCollector, signingKey } = merchantKeys;
      const made = await turns.take(wallet, () =>
        openOrder({ ...{ pool, wallet, request, terms, feeCollector, signingKey }, nowMs: clock() }),
      );
      if (isRefusal(made)) return made;
      return paymentRequired(
        made,
        "Pay the order, then send the same request with its orderId in place of the package",
      );
    },

    /** What to tell of an order that is not paid, as far as we know. */
    async unpaid(order: Order, txHash: string | undefined): Promise<Refusal> {
      const problem = gate.paymentProblem();
      if (problem !== undefined) return problem;
      const news =
        txHash === undefined ? undefined : await explainTransaction({ reader, hash: txHash, order });
      if (news?.isFinal === true) return paymentRequired(order, news.text);
      if (statusOf(order, clock()) === "expired") {
        // The last blocks in which it could be paid may not be booked yet.
        return paymentRequired(
          order,
          "The order has expired: make a new one. If it was paid in time, ask again",
          askAgainMs,
        );
      }
      return paymentRequired(
        order,
        news?.text ?? "The payment is not there yet; ask again shortly",
        askAgainMs,
      );
    },
  };
}
