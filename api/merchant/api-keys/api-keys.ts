import { isRefusal, type Refusal, refusal } from "../../../lib/http-service/refusal.ts";
import type { Profile } from "../../../lib/keys/api-key.ts";
import type { PostgresPool } from "../../../lib/postgres/postgres-pool.ts";
import type { Queryable } from "../../../lib/postgres/queryable.ts";
import { transaction } from "../../../lib/postgres/transaction.ts";
import { bytesOf } from "../../read/columns.ts";
import { writeAudit } from "../audit-log.ts";
import type { Orders } from "../orders/orders.ts";
import { notSelling } from "../purchase-gate.ts";
import type { Sealer } from "../secrets/sealer.ts";
import type { WalletTurns } from "../wallet-turns.ts";
import { countActiveKeys } from "./active-keys.ts";
import { keyColumns, keyRecordOf, readSoldKey, type SoldKey } from "./api-key.ts";
import { type IssuePoint, issueKey } from "./issue-key.ts";
import type { KeyLookUp } from "./key-look-up.ts";

export type ApiKeys = ReturnType<typeof createApiKeys>;

/** Keys that are sold: issued for a paid order, listed, revoked. */
export function createApiKeys({
  pool,
  orders,
  lookUp,
  turns,
  sealer,
  profile,
  secretAgainMs,
  isRedisAway,
  now,
  atPoint,
}: {
  pool: PostgresPool;
  orders: Pick<Orders, "unpaid" | "terms">;
  lookUp: Pick<KeyLookUp, "tellRevoked">;
  turns: WalletTurns;
  /** Undefined: nothing is sold here. */
  sealer: Sealer | undefined;
  profile: Profile;
  secretAgainMs: () => number;
  isRedisAway: () => boolean;
  now: () => number;
  atPoint?: ((point: IssuePoint) => void) | undefined;
}) {
  return {
    get activeKeysMax() {
      return orders.terms.activeKeysMax;
    },
    countActive: (wallet: string) => countActiveKeys(pool, wallet),

    /** The key of a paid order with its secret; what to do where it is not paid. */
    async issue(wallet: string, { orderId, txHash }: { orderId: string; txHash: string | undefined }) {
      if (sealer === undefined) return notSelling;
      if (isRedisAway()) return notWithoutRedis;
      const issued = await turns.take(wallet, () =>
        issueKey({
          ...{ pool, orderId, wallet, profile, sealer },
          activeKeysMax: orders.terms.activeKeysMax,
          secretAgainMs: secretAgainMs(),
          nowMs: now(),
          ...(atPoint === undefined ? {} : { atPoint }),
        }),
      );
      if (isRefusal(issued)) return issued;
      if ("unpaid" in issued) return orders.unpaid(issued.unpaid, txHash);
      return { ...keyRecordOf(issued.key, now()), secret: issued.secret };
    },

    /** A wallet's keys, newest first. */
    async list(wallet: string, limit: number) {
      const { rows } = await pool.query({
        name: "keys-of-wallet",
        text: `select ${keyColumns} from svc.api_keys where wallet = $1 order by created_at desc, id desc limit $2`,
        values: [bytesOf(wallet), limit],
      });
      return rows.map((row) => keyRecordOf(readSoldKey(row), now()));
    },

    /** Ends a key of the wallet, for good. A key that is revoked stays as it is, and all replicas are told again. */
    async revoke(wallet: string, id: string) {
      const key = await transaction(pool, (db) => revokeKey(db, { wallet, id }));
      if (isRefusal(key)) return key;
      return (await lookUp.tellRevoked(key)) ? keyRecordOf(key, now()) : revokedInPart;
    },
  };
}

async function revokeKey(
  db: Queryable,
  { wallet, id }: { wallet: string; id: string },
): Promise<SoldKey | Refusal> {
  const { rows } = await db.query({
    text: `select ${keyColumns} from svc.api_keys where id = $1 for update`,
    values: [id],
  });
  const [found] = rows;
  if (found === undefined) return unknownKey;
  const key = readSoldKey(found);
  if (key.wallet !== wallet) return otherWallet;
  if (key.revokedAt !== null) return key;
  const changed = await db.query({
    text: `update svc.api_keys set revoked_at = now(), secret_sealed = null, secret_sealed_until = null
      where id = $1 returning ${keyColumns}`,
    values: [id],
  });
  await writeAudit(db, { wallet, actor: "wallet", action: "key.revoked", about: { key: id } });
  return changed.rows.map(readSoldKey)[0] ?? key;
}

const unknownKey = refusal("not_found", "There is no such key");
const otherWallet = refusal("forbidden", "This key belongs to another wallet than the session's");
const notWithoutRedis = refusal(
  "service_unavailable",
  "No key can be issued at the moment; a paid order keeps its value. Try again shortly",
  {
    retryAfterMs: 2000,
  },
);
/** Redis may come back with what it knew before. */
const revokedInPart = refusal(
  "service_unavailable",
  "The key is revoked, but it may pass for up to a minute more, since not all could be told. Send this again",
  { retryAfterMs: 1000 },
);
