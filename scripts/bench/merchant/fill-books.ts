import { randomBytes } from "node:crypto";
import type { PostgresPool } from "../../../lib/postgres/postgres-pool.ts";
import { insertRow } from "../../soak/merchant-crashes/insert-row.ts";
import { addOrders } from "./fill-outbox.ts";

const invoices = 10_000;
const deliveries = 100_000;
/** Others have as many of both in all. */
const others = 20;

/** A wallet with 10 000 invoices and 100 000 deliveries, among others that have as many together. */
export async function fillBooks(
  db: PostgresPool,
): Promise<{ wallet: string; invoices: number; deliveries: number }> {
  const wallet = await fillWallet(db, invoices, deliveries);
  for (let count = 0; count < others; count += 1) {
    await fillWallet(db, invoices / others, deliveries / others);
  }
  await db.query("vacuum analyze");
  return { wallet: `0x${wallet.toString("hex")}`, invoices, deliveries };
}

async function fillWallet(db: PostgresPool, invoiceCount: number, deliveryCount: number): Promise<Buffer> {
  const wallet = randomBytes(20);
  await insertRow(db, "wallets", { address: wallet });
  await addOrders(db, { wallet, count: invoiceCount, kind: "invoice" });
  // One in a hundred is underpaid; they were made over 90 days.
  await db.query(
    `insert into svc.invoices (id, order_id, wallet, pay_token, customer_label, reference, amount_idr, idr_per_token, rate_source,
       rate_at, amount, box, expires_at, watch_until, created_at, received, received_in_time, booked, state, paid_at)
     select gen_random_uuid(), id, $1, left(md5(id::text), 22), 'Customer ' || number, 'order ' || number, 150000, 15000, 'fixed', now(),
       amount, substring(id_on_chain from 1 for 20), made + interval '30 minutes', made + interval '1 day', made,
       case when is_part then 1 else amount end, case when is_part then 1 else amount end, case when is_part then 0 else amount end,
       case when is_part then 'underpaid' else 'paid' end, case when not is_part then made + interval '1 minute' end
     from (select *, row_number() over () as number from svc.orders where wallet = $1 and kind = 'invoice') o,
       lateral (select now() - number * interval '90 days' / $2 as made, number % 100 = 0 as is_part) facts`,
    [wallet, invoiceCount],
  );
  const [order] = await addOrders(db, { wallet, count: 1, kind: "webhook_url" });
  const { rows } = await db.query(
    "insert into svc.webhook_endpoints (id, wallet, order_id, url, secret_sealed) values (gen_random_uuid(), $1, $2, 'http://127.0.0.1:9/', '') returning id",
    [wallet, order],
  );
  // One in a thousand is dead. Each has been tried twice.
  await db.query(
    `with written as (
       insert into svc.webhook_events (id, wallet, sequence, type, body, created_at)
       select gen_random_uuid(), $1, number, 'webhook.test', repeat('x', 900), now() - ($2 - number) * interval '30 days' / $2
       from generate_series(1, $2) number returning id, sequence),
     delivered as (
       insert into svc.webhook_deliveries (event_id, endpoint_id, sequence, state, attempts, tries, last_status, delivered_at)
       select id, $3, sequence, case when sequence % 1000 = 0 then 'dead' else 'delivered' end, 2, 2, 200, now() from written
       returning event_id)
     insert into svc.webhook_attempts (event_id, endpoint_id, number, took_ms, status)
     select event_id, $3, number, 10, 200 from delivered, generate_series(1, 2) number`,
    [wallet, deliveryCount, rows[0]?.["id"]],
  );
  return wallet;
}
