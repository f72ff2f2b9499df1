import type { SigningKey } from "ethers/crypto";
import type { PostgresPool } from "../../../lib/postgres/postgres-pool.ts";
import type { Queryable } from "../../../lib/postgres/queryable.ts";
import { transaction } from "../../../lib/postgres/transaction.ts";
import { createUuid } from "../public-id.ts";
import { placeOrder } from "./open-order.ts";
import { statusOf, type WebhookOrder } from "./order.ts";
import { findWebhookOrder, lockWallet } from "./order-store.ts";

/**
 * The order of a webhook's fee. A wallet has one at a time: who asks again gets the one that can still be paid, so that nobody
 * pays twice for having lost an answer.
 */
export function openWebhookOrder({
  pool,
  wallet,
  url,
  amount,
  validMs,
  feeCollector,
  signingKey,
  nowMs,
}: {
  pool: Pick<PostgresPool, "connect">;
  wallet: string;
  url: string;
  amount: bigint;
  validMs: number;
  feeCollector: string;
  signingKey: SigningKey;
  nowMs: number;
}): Promise<WebhookOrder> {
  return transaction(pool, async (db) => {
    await lockWallet(db, wallet);
    const latest = await findWebhookOrder(db, { wallet });
    if (latest !== undefined && isWorthPaying(latest, { nowMs, validMs, feeCollector })) {
      return keepUrl(db, { order: latest, url });
    }
    const id = createUuid({ nowMs });
    await placeOrder(db, {
      ...{ id, kind: "webhook_url", wallet, amount, feeCollector, signingKey },
      validUntilMs: nowMs + validMs,
      request: { url },
    });
    const made = await findWebhookOrder(db, { id });
    if (made === undefined) throw new Error(`order ${id} is not there after it was made`);
    return made;
  });
}

/** Who mistyped the URL pays the same order for another one. */
async function keepUrl(
  db: Queryable,
  { order, url }: { order: WebhookOrder; url: string },
): Promise<WebhookOrder> {
  if (order.url === url) return order;
  await db.query({
    text: "update svc.orders set request = $2 where id = $1",
    values: [order.id, JSON.stringify({ url })],
  });
  return { ...order, url };
}

/** It leaves whoever pays it some of its time. */
function isWorthPaying(
  order: WebhookOrder,
  { nowMs, validMs, feeCollector }: { nowMs: number; validMs: number; feeCollector: string },
): boolean {
  if (order.feeCollector !== feeCollector || statusOf(order, nowMs) !== "open") return false;
  return order.terms.validUntil * 1000 - nowMs > validMs / 2;
}
