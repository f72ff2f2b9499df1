import { randomBytes, randomUUID } from "node:crypto";
import { createUuid } from "../../../api/merchant/public-id.ts";
import type { Sealer } from "../../../api/merchant/secrets/sealer.ts";
import { insertEvents } from "../../../api/merchant/webhooks/event-store.ts";
import { createWebhookSecret } from "../../../api/merchant/webhooks/webhook-secret.ts";
import type { PostgresPool } from "../../../lib/postgres/postgres-pool.ts";
import { transaction } from "../../../lib/postgres/transaction.ts";
import { insertRow } from "../../soak/merchant-crashes/insert-row.ts";

const ether = 10n ** 18n;

/** The first epoch, so that there can be orders. */
export async function beginEpoch(db: PostgresPool): Promise<void> {
  await insertRow(db, "chain_epochs", {
    ...{ epoch: 1, genesis_hash: randomBytes(32), fee_collector: randomBytes(20), first_block: 2 },
  });
  await insertRow(db, "chain_cursor", {
    ...{ epoch: 1, next_block: 2, last_hash: randomBytes(32), last_block_at: new Date(0) },
    ...{ boxes_block: 1, boxes_at: new Date(0) },
  });
}

/** Orders of a wallet, none of which is paid. @returns their ids. */
export async function addOrders(
  db: PostgresPool,
  { wallet, count, kind }: { wallet: Buffer; count: number; kind: "api_key" | "invoice" | "webhook_url" },
): Promise<string[]> {
  const { rows } = await db.query(
    `insert into svc.orders (id, id_on_chain, kind, wallet, ref, source, payee, amount, fee, valid_until, signature)
     select gen_random_uuid(), sha256(gen_random_uuid()::text::bytea), $1, $2, sha256(gen_random_uuid()::text::bytea), $3, $4, $5, $6,
       now() + interval '1 day', $7
     from generate_series(1, $8) returning id`,
    [
      ...[kind, wallet, kind === "invoice" ? "payments" : "svc_dev", kind === "invoice" ? wallet : null],
      ...[String(ether), kind === "invoice" ? "0" : String(ether), randomBytes(65), count],
    ],
  );
  return rows.map((row) => String(row["id"]));
}

/** A wallet with a webhook. */
export async function addEndpoint(db: PostgresPool, { url, sealer }: { url: string; sealer: Sealer }) {
  const wallet = randomBytes(20);
  await insertRow(db, "wallets", { address: wallet });
  const [order] = await addOrders(db, { wallet, count: 1, kind: "webhook_url" });
  const [id, secret] = [randomUUID(), createWebhookSecret()];
  await insertRow(db, "webhook_endpoints", {
    ...{ id, wallet, order_id: order, url, secret_sealed: sealer.seal(secret, id) },
  });
  return { id, wallet, secret };
}

/** Events of paid keys as the ledger writes them, each with its delivery. */
export async function addEvents(db: PostgresPool, { wallet, count }: { wallet: Buffer; count: number }) {
  const orders = await addOrders(db, { wallet, count, kind: "api_key" });
  const payment = { kind: "api_key", amount: "1", amountWei: String(ether), txHash: `0x${"ab".repeat(32)}` };
  return transaction(db, (client) =>
    insertEvents(
      client,
      orders.map((orderId) => ({
        ...{ wallet: `0x${wallet.toString("hex")}`, type: "payment.completed", orderId, atMs: Date.now() },
        data: { payment: { ...payment, orderId: createUuid({ nowMs: Date.now() }) } },
      })),
    ),
  );
}
