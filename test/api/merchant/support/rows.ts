import { randomBytes, randomUUID } from "node:crypto";
import type { Queryable } from "../../../../lib/postgres/queryable.ts";
import { insertRow } from "../../../../scripts/soak/merchant-crashes/insert-row.ts";

type Values = Readonly<Record<string, unknown>>;

/** The first epoch, booked up to block 1. */
export async function beginEpoch(db: Pick<Queryable, "query">): Promise<void> {
  await insertRow(db, "chain_epochs", {
    ...{ epoch: 1, genesis_hash: randomBytes(32), fee_collector: randomBytes(20), first_block: 2 },
  });
  await insertRow(db, "chain_cursor", {
    ...{ epoch: 1, next_block: 2, last_hash: randomBytes(32), last_block_at: new Date(0) },
    ...{ boxes_block: 1, boxes_at: new Date(0) },
  });
}

export async function insertWallet(db: Pick<Queryable, "query">, address: Uint8Array = randomBytes(20)) {
  await insertRow(db, "wallets", { address });
  return address;
}

/** An order of a key for 100 tokens, or of what `change` makes of it. */
export function orderRow(wallet: Uint8Array, change: Values = {}) {
  return {
    id: randomUUID(),
    id_on_chain: randomBytes(32),
    kind: "api_key",
    wallet,
    ref: randomBytes(32),
    source: "svc_dev",
    amount: 100n * 10n ** 18n,
    fee: 100n * 10n ** 18n,
    valid_until: new Date(Date.now() + 1_800_000),
    signature: randomBytes(65),
    ...change,
  };
}

export function paymentRow(order: string, change: Values = {}) {
  return {
    ...{ order_id: order, way: "box", amount: 5, received_after: 5, in_time: true },
    ...{ block_number: 2, block_hash: randomBytes(32), block_at: new Date(0) },
    ...change,
  };
}

export function keyRow(wallet: Uint8Array, order: string, change: Values = {}) {
  return {
    ...{ id: randomUUID(), wallet, order_id: order, hash: randomBytes(32), hint: "svc_dev_…a1B2" },
    ...{ package: "monthly", scopes: ["dashboard:read"], expires_at: new Date(Date.now() + 86_400_000) },
    ...change,
  };
}

export function invoiceRow(wallet: Uint8Array, order: string, change: Values = {}) {
  return {
    ...{ id: randomUUID(), order_id: order, wallet, pay_token: randomBytes(11).toString("hex") },
    ...{ amount_idr: 150_000, idr_per_token: "15000", rate_source: "fixed" },
    ...{ rate_at: new Date(), amount: 10n ** 19n, box: randomBytes(20) },
    ...{ expires_at: new Date(Date.now() + 1_800_000), watch_until: new Date(Date.now() + 88_200_000) },
    ...change,
  };
}
