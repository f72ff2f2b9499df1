import type { Queryable } from "../../../lib/postgres/queryable.ts";
import { bytesOf } from "../../read/columns.ts";
import {
  type Order,
  orderColumns,
  readAnyOrder,
  readOrder,
  readWebhookOrder,
  type WebhookOrder,
} from "./order.ts";

/** An order of a key, whoever's it is; undefined where there is none. `lock`: until the transaction ends nobody else changes it. */
export async function findOrder(
  db: Pick<Queryable, "query">,
  id: string,
  { lock = false }: { lock?: boolean } = {},
): Promise<Order | undefined> {
  const { rows } = await db.query({
    text: `select ${orderColumns} from svc.orders o join svc.chain_epochs e using (epoch)
      where o.id = $1 and o.kind = 'api_key'${lock ? " for update of o" : ""}`,
    values: [id],
  });
  const [row] = rows;
  return row === undefined ? undefined : readOrder(row);
}

/** The order of a webhook's fee: by its id, or a wallet's latest. `lock` as for keys. */
export async function findWebhookOrder(
  db: Pick<Queryable, "query">,
  by: { id: string } | { wallet: string },
  { lock = false }: { lock?: boolean } = {},
): Promise<WebhookOrder | undefined> {
  const [column, value] = "id" in by ? ["id", by.id] : ["wallet", bytesOf(by.wallet)];
  // One that was paid is preferred: nobody pays twice.
  const { rows } = await db.query({
    text: `select ${orderColumns} from svc.orders o join svc.chain_epochs e using (epoch)
      where o.${column} = $1 and o.kind = 'webhook_url'
      order by o.paid_at is null, o.valid_until desc, o.id desc limit 1${lock ? " for update of o" : ""}`,
    values: [value],
  });
  return rows.map(readWebhookOrder)[0];
}

/** Whether a webhook's fee is paid, whether or not a URL was saved for it yet. */
export async function hasPaidWebhookFee(db: Pick<Queryable, "query">, wallet: string): Promise<boolean> {
  const order = await findWebhookOrder(db, { wallet });
  return order !== undefined && order.paidAt !== null;
}

/** A wallet's orders of keys and of a webhook's fee, newest first. */
export async function listOrders(
  db: Pick<Queryable, "query">,
  { wallet, limit }: { wallet: string; limit: number },
): Promise<(Order | WebhookOrder)[]> {
  const { rows } = await db.query({
    name: "orders-of-wallet",
    text: `select o.kind, ${orderColumns} from svc.orders o join svc.chain_epochs e using (epoch)
      where o.wallet = $1 and o.kind <> 'invoice' order by o.created_at desc, o.id desc limit $2`,
    values: [bytesOf(wallet), limit],
  });
  return rows.map(readAnyOrder);
}

/**
 * Makes all others wait who are about to use up one of the wallet's limits; the wallet is known after it. One statement, so that a
 * wallet cannot be removed as unused between being found and being locked.
 */
export async function lockWallet(db: Pick<Queryable, "query">, wallet: string): Promise<void> {
  await db.query({
    text: `insert into svc.wallets (address) values ($1)
      on conflict (address) do update set address = excluded.address`,
    values: [bytesOf(wallet)],
  });
}
