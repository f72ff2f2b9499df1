import type { SigningKey } from "ethers/crypto";
import { type FeeOrder, orderId, orderRef, signOrder } from "../../../lib/fee-collector/fee-order.ts";
import { type Refusal, refusal } from "../../../lib/http-service/refusal.ts";
import { network } from "../../../lib/network.ts";
import type { PostgresPool } from "../../../lib/postgres/postgres-pool.ts";
import type { Queryable } from "../../../lib/postgres/queryable.ts";
import { onlyRow, readInteger, readNullable, readTime } from "../../../lib/postgres/row.ts";
import { transaction } from "../../../lib/postgres/transaction.ts";
import { bytesOf } from "../../read/columns.ts";
import { refuseAtKeyLimit } from "../api-keys/active-keys.ts";
import type { PackagePrices } from "../packages.ts";
import { createUuid } from "../public-id.ts";
import type { KeyRequest } from "./key-request.ts";
import type { Order } from "./order.ts";
import { findOrder, lockWallet } from "./order-store.ts";

export type OrderTerms = {
  prices: PackagePrices;
  /** For a webhook's first URL, in wei. */
  webhookPrice: bigint;
  validMs: number;
  openMax: number;
  activeKeysMax: number;
};

/**
 * Makes an order of a key, signed, or says why the wallet gets none. Under the wallet's lock, so that two at once count each
 * other.
 */
export async function openOrder({
  pool,
  wallet,
  request,
  terms,
  feeCollector,
  signingKey,
  nowMs,
}: {
  pool: Pick<PostgresPool, "connect">;
  wallet: string;
  request: KeyRequest;
  terms: OrderTerms;
  feeCollector: string;
  signingKey: SigningKey;
  nowMs: number;
}): Promise<Order | Refusal> {
  const id = createUuid({ nowMs });
  return transaction(pool, async (db) => {
    await lockWallet(db, wallet);
    const refused =
      (await refuseAtKeyLimit({ db, wallet, activeKeysMax: terms.activeKeysMax })) ??
      (await refuseAtOpenOrders({ db, wallet, openMax: terms.openMax, nowMs }));
    if (refused !== undefined) return refused;
    await placeOrder(db, {
      ...{ id, kind: "api_key", wallet, request, feeCollector, signingKey },
      amount: terms.prices[request.package],
      validUntilMs: nowMs + terms.validMs,
    });
    const made = await findOrder(db, id);
    if (made === undefined) throw new Error(`order ${id} is not there after it was made`);
    return made;
  });
}

/** Signs an order of the developer API, all of which is the platform's fee, and keeps it. */
export async function placeOrder(
  db: Queryable,
  {
    id,
    kind,
    wallet,
    amount,
    validUntilMs,
    request,
    feeCollector,
    signingKey,
  }: {
    id: string;
    kind: "api_key" | "webhook_url";
    wallet: string;
    amount: bigint;
    validUntilMs: number;
    request: object;
    feeCollector: string;
    signingKey: SigningKey;
  },
): Promise<void> {
  const order: FeeOrder = {
    ref: orderRef(id),
    source: "svc_dev",
    payee: null,
    amount,
    fee: amount,
    validUntil: Math.floor(validUntilMs / 1000),
  };
  const place = { chainId: network.chainId, feeCollector };
  await insertOrder(db, {
    ...{ id, kind, wallet, order, request },
    idOnChain: orderId({ order, ...place }),
    signature: signOrder({ order, ...place, signingKey }),
  });
}

async function refuseAtOpenOrders({
  db,
  wallet,
  openMax,
  nowMs,
}: {
  db: Queryable;
  wallet: string;
  openMax: number;
  nowMs: number;
}): Promise<Refusal | undefined> {
  const { rows } = await db.query({
    text: `select count(*)::int as open, min(valid_until) as next_end from svc.orders
      where wallet = $1 and kind = 'api_key' and paid_at is null and valid_until >= $2 and epoch = svc.current_epoch()`,
    values: [bytesOf(wallet), new Date(nowMs)],
  });
  const row = onlyRow(rows);
  if (readInteger(row, "open") < openMax) return undefined;
  const nextEnd = readNullable(readTime, row, "next_end")?.getTime() ?? nowMs;
  return refusal(
    "rate_limited",
    `At most ${openMax} orders of a wallet can be open: pay one, or let one expire`,
    {
      retryAfterMs: Math.max(1000, nextEnd - nowMs),
    },
  );
}

async function insertOrder(
  db: Queryable,
  {
    id,
    kind,
    idOnChain,
    wallet,
    order,
    signature,
    request,
  }: {
    id: string;
    kind: string;
    idOnChain: string;
    wallet: string;
    order: FeeOrder;
    signature: string;
    request: object;
  },
): Promise<void> {
  await db.query({
    text: `insert into svc.orders (id, id_on_chain, kind, wallet, ref, source, amount, fee, valid_until, signature, request)
      values ($1, $2, $3, $4, $5, $6, $7, $8, to_timestamp($9), $10, $11)`,
    values: [
      ...[id, bytesOf(idOnChain), kind, bytesOf(wallet), bytesOf(order.ref), order.source],
      ...[
        String(order.amount),
        String(order.fee),
        order.validUntil,
        bytesOf(signature),
        JSON.stringify(request),
      ],
    ],
  });
}
