import { type Refusal, refusal } from "../../../lib/http-service/refusal.ts";
import type { PostgresPool } from "../../../lib/postgres/postgres-pool.ts";
import type { Queryable } from "../../../lib/postgres/queryable.ts";
import { transaction } from "../../../lib/postgres/transaction.ts";
import { bytesOf } from "../../read/columns.ts";
import { writeAudit } from "../audit-log.ts";
import { orderOfOther, type WebhookOrder } from "../orders/order.ts";
import { findWebhookOrder, lockWallet } from "../orders/order-store.ts";
import { createUuid } from "../public-id.ts";
import type { Sealer } from "../secrets/sealer.ts";
import { noteChange } from "./change-webhook.ts";
import { type Endpoint, findEndpoint } from "./endpoint.ts";
import { createWebhookSecret } from "./webhook-secret.ts";

export type SavedWebhook =
  | { endpoint: Endpoint; secret: string | undefined }
  /** The fee is to be paid first; undefined: there is no order yet. */
  | { unpaid: WebhookOrder | undefined };

/**
 * Saves a wallet's URL. The first one takes an order that is paid, once; later ones take nothing, and begin anew where the webhook was
 * disabled. Who lost the first answer gets the same secret again for a while, as long as nothing was changed.
 */
export function saveWebhook({
  pool,
  wallet,
  url,
  orderId,
  sealer,
  secretAgainMs,
  nowMs,
}: {
  pool: Pick<PostgresPool, "connect">;
  wallet: string;
  url: string;
  orderId: string | undefined;
  sealer: Sealer;
  secretAgainMs: number;
  nowMs: number;
}): Promise<SavedWebhook | Refusal> {
  return transaction(pool, async (db) => {
    await lockWallet(db, wallet);
    const by = orderId === undefined ? { wallet } : { id: orderId };
    const order = await findWebhookOrder(db, by, { lock: true });
    if (order === undefined && orderId !== undefined) return unknownOrder;
    if (order !== undefined && order.wallet !== wallet) return orderOfOther;
    const endpoint = await findEndpoint(db, wallet, { lock: true });
    if (endpoint !== undefined) {
      const again = orderId === endpoint.orderId && endpoint.url === url;
      const secret = again ? secretAgain({ endpoint, sealer, secretAgainMs, nowMs }) : undefined;
      return secret === undefined ? changeUrl(db, { endpoint, url }) : { endpoint, secret };
    }
    if (order === undefined || order.paidAt === null) return { unpaid: order };
    return insertEndpoint(db, { wallet, url, order, sealer, nowMs });
  });
}

/** While nothing was changed since. */
function secretAgain({
  endpoint: { id, createdAt, changedAt, nextSince, currentSealed },
  sealer,
  secretAgainMs,
  nowMs,
}: {
  endpoint: Endpoint;
  sealer: Sealer;
  secretAgainMs: number;
  nowMs: number;
}): string | undefined {
  const isUntouched = changedAt.getTime() === createdAt.getTime() && nextSince === null;
  const isNew = nowMs - createdAt.getTime() <= secretAgainMs;
  return isUntouched && isNew ? sealer.open(currentSealed, id) : undefined;
}

async function insertEndpoint(
  db: Queryable,
  {
    wallet,
    url,
    order,
    sealer,
    nowMs,
  }: { wallet: string; url: string; order: WebhookOrder; sealer: Sealer; nowMs: number },
): Promise<SavedWebhook> {
  const id = createUuid({ nowMs });
  const secret = createWebhookSecret();
  await db.query({
    text: `insert into svc.webhook_endpoints (id, wallet, order_id, url, secret_sealed) values ($1, $2, $3, $4, $5)`,
    values: [id, bytesOf(wallet), order.id, url, sealer.seal(secret, id)],
  });
  await db.query({ text: "update svc.orders set used_at = now() where id = $1", values: [order.id] });
  await writeAudit(db, { wallet, actor: "wallet", action: "webhook.created", about: { webhook: id } });
  return { endpoint: await reread(db, wallet), secret };
}

async function changeUrl(
  db: Queryable,
  { endpoint, url }: { endpoint: Endpoint; url: string },
): Promise<SavedWebhook | Refusal> {
  if (endpoint.url === url) return { endpoint, secret: undefined };
  const refused = await noteChange(db, { endpoint, action: "webhook.changed" });
  if (refused !== undefined) return refused;
  await db.query({
    text: `update svc.webhook_endpoints set url = $2, changed_at = clock_timestamp(), disabled_at = null, disabled_why = null,
        failing_since = null, dead_events = 0 where id = $1`,
    values: [endpoint.id, url],
  });
  return { endpoint: await reread(db, endpoint.wallet), secret: undefined };
}

async function reread(db: Queryable, wallet: string): Promise<Endpoint> {
  const endpoint = await findEndpoint(db, wallet);
  if (endpoint === undefined) throw new Error("a webhook is not there after it was saved");
  return endpoint;
}

const unknownOrder = refusal("not_found", "There is no such order of a webhook");
