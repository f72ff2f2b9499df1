import { type Refusal, refusal } from "../../../lib/http-service/refusal.ts";
import { createApiKey, hashApiKey, type Profile } from "../../../lib/keys/api-key.ts";
import type { PostgresPool } from "../../../lib/postgres/postgres-pool.ts";
import type { Queryable } from "../../../lib/postgres/queryable.ts";
import { onlyRow, readBytes, readNullable } from "../../../lib/postgres/row.ts";
import { transaction } from "../../../lib/postgres/transaction.ts";
import { bytesOf } from "../../read/columns.ts";
import { writeAudit } from "../audit-log.ts";
import { type Order, orderOfOther } from "../orders/order.ts";
import { findOrder, lockWallet } from "../orders/order-store.ts";
import { packages } from "../packages.ts";
import { createUuid } from "../public-id.ts";
import type { Sealer } from "../secrets/sealer.ts";
import { refuseAtKeyLimit } from "./active-keys.ts";
import { keyColumns, readSoldKey, type SoldKey } from "./api-key.ts";

const prefix = "svc";
const hoursOfDay = 24;
const hintChars = 4;

/** Between two steps of an issue, where a crash must not do harm. */
export type IssuePoint = "key inserted" | "key issued";

export type IssuedKey = { key: SoldKey; secret: string };

/**
 * Gives the key of a paid order, once: in one transaction, under the wallet's lock, the key is counted and inserted and the
 * order used up. Who lost the answer gets the same secret again, for a while and until the key is used first.
 */
export async function issueKey({
  pool,
  orderId,
  wallet,
  profile,
  activeKeysMax,
  secretAgainMs,
  sealer,
  nowMs,
  atPoint = () => {},
}: {
  pool: Pick<PostgresPool, "connect">;
  orderId: string;
  wallet: string;
  profile: Profile;
  activeKeysMax: number;
  secretAgainMs: number;
  sealer: Sealer;
  nowMs: number;
  atPoint?: (point: IssuePoint) => void;
}): Promise<IssuedKey | { unpaid: Order } | Refusal> {
  const issued = await transaction(pool, async (db) => {
    await lockWallet(db, wallet);
    const order = await findOrder(db, orderId, { lock: true });
    if (order === undefined) return unknownOrder;
    if (order.wallet !== wallet) return orderOfOther;
    if (order.usedAt !== null) return tellAgain({ db, order, sealer });
    if (order.paidAt === null) return { unpaid: order };
    const refused = await refuseAtKeyLimit({ db, wallet, activeKeysMax });
    if (refused !== undefined) return refused;
    const secret = createApiKey({ profile, prefix });
    const id = createUuid({ nowMs });
    const key = await insertKey(db, { id, order, secret, sealed: sealer.seal(secret, id), secretAgainMs });
    atPoint("key inserted");
    await db.query({ text: "update svc.orders set used_at = now() where id = $1", values: [order.id] });
    await writeAudit(db, {
      wallet,
      actor: "wallet",
      action: "key.created",
      about: { key: id, order: order.id },
    });
    return { key, secret };
  });
  if ("secret" in issued) atPoint("key issued");
  return issued;
}

/** The same answer again: the first use of a key drops what was sealed, and so does its end. */
async function tellAgain({
  db,
  order,
  sealer,
}: {
  db: Queryable;
  order: Order;
  sealer: Sealer;
}): Promise<IssuedKey | Refusal> {
  const { rows } = await db.query({
    text: `select ${keyColumns},
        case when secret_sealed_until > now() then secret_sealed end as sealed
      from svc.api_keys where order_id = $1`,
    values: [order.id],
  });
  const row = onlyRow(rows);
  const key = readSoldKey(row);
  const sealed = readNullable(readBytes, row, "sealed");
  const secret = sealed === null ? undefined : sealer.open(sealed, key.id);
  return secret === undefined ? alreadyUsed : { key, secret };
}

async function insertKey(
  db: Queryable,
  {
    id,
    order,
    secret,
    sealed,
    secretAgainMs,
  }: { id: string; order: Order; secret: string; sealed: Buffer; secretAgainMs: number },
): Promise<SoldKey> {
  const { package: name, label, scopes } = order.request;
  const { rows } = await db.query({
    text: `insert into svc.api_keys
        (id, wallet, order_id, hash, hint, label, package, scopes, expires_at, secret_sealed, secret_sealed_until)
      values ($1, $2, $3, $4, $5, $6, $7, $8, now() + make_interval(hours => $9), $10,
        now() + make_interval(secs => $11::double precision / 1000))
      returning ${keyColumns}`,
    values: [
      ...[id, bytesOf(order.wallet), order.id, Buffer.from(hashApiKey(secret), "hex"), hintOf(secret)],
      ...[label, name, scopes, packages[name].days * hoursOfDay, sealed, secretAgainMs],
    ],
  });
  return readSoldKey(onlyRow(rows));
}

/** `svc_live_…a1B2`: enough to know it again, and 43 other characters are not told. */
function hintOf(secret: string): string {
  const begin = secret.slice(0, secret.lastIndexOf("_") + 1);
  return `${begin}…${secret.slice(-hintChars)}`;
}

const unknownOrder = refusal("not_found", "There is no such order");
const alreadyUsed = refusal(
  "payment_already_used",
  "The key of this order was issued, and its secret is not shown again. Revoke it and buy another one if the secret is lost",
);
