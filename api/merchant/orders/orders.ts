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
import { openWebhookOrder } from "./open-webhook-order.ts";
import { type Order, statusOf, type WebhookOrder } from "./order.ts";
import { type AnyOrderRecord, orderRecordOf, webhookOrderRecordOf } from "./order-record.ts";
import { findOrder, findWebhookOrder, hasPaidWebhookFee, listOrders } from "./order-store.ts";

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
  const recordOf = (order: Order | WebhookOrder): AnyOrderRecord =>
    order.kind === "api_key" ? orderRecordOf(order, clock()) : webhookOrderRecordOf(order, clock());
  const paymentRequired = (order: Order | WebhookOrder, detail: string, retryAfterMs?: number): Refusal =>
    refusal("payment_required", detail, {
      members: { order: recordOf(order) },
      headers: { Location: `/api/v1/svc-dev/orders/${publicId("ord", order.id)}` },
      ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
    });

  return {
    terms,
    clock,
    find: (id: string) => findOrder(pool, id),
    /** An order of a key or of a webhook's fee. */
    findAny: async (id: string) => (await findOrder(pool, id)) ?? (await findWebhookOrder(pool, { id })),
    recordOf,
    /** Whether a URL can be saved without paying. */
    isWebhookPaid: (wallet: string) => hasPaidWebhookFee(pool, wallet),
    /** Of keys and of a webhook's fee. */
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

    /** The order of a webhook's fee: a new one, or the one that can still be paid. A refusal, as for keys. */
    async openWebhook(wallet: string, url: string): Promise<Refusal> {
      const problem = gate.orderProblem();
      if (problem !== undefined || merchantKeys === undefined) return problem ?? notSelling;
      const { feeCollector, signingKey } = merchantKeys;
      const { webhookPrice, validMs } = terms;
      const made = await turns.take(wallet, () =>
        openWebhookOrder({
          ...{ pool, wallet, url, feeCollector, signingKey, validMs },
          amount: webhookPrice,
          nowMs: clock(),
        }),
      );
      if (isRefusal(made)) return made;
      return paymentRequired(
        made,
        "Pay the order, then send the same request with its orderId beside the url",
      );
    },

    /** What to tell of an order that is not paid, as far as we know. */
    async unpaid(order: Order | WebhookOrder, txHash: string | undefined): Promise<Refusal> {
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
