import { type Refusal, refusal } from "../../../lib/http-service/refusal.ts";
import type { PostgresPool } from "../../../lib/postgres/postgres-pool.ts";
import type { Queryable } from "../../../lib/postgres/queryable.ts";
import { onlyRow, readInteger, readNullable, readTime } from "../../../lib/postgres/row.ts";
import { transaction } from "../../../lib/postgres/transaction.ts";
import { bytesOf } from "../../read/columns.ts";
import { writeAudit } from "../audit-log.ts";
import { lockWallet } from "../orders/order-store.ts";
import type { WalletTurns } from "../wallet-turns.ts";
import { type MerchantSettings, readSettings, saveSettings } from "./settings-store.ts";

export type Settings = ReturnType<typeof createSettings>;

/** Anybody who signs in can change settings, and each change is noted for good. */
export const changesPerDayMax = 20;
const dayMs = 86_400_000;
/** In the audit log. */
export const settingsChanged = "settings.changed";

/** What merchants tell their customers about themselves. */
export function createSettings({ pool, turns }: { pool: PostgresPool; turns: WalletTurns }) {
  return {
    read: (wallet: string) => readSettings(pool, wallet),

    /** Replaces a wallet's settings. The same ones again are no change. */
    save: (wallet: string, settings: MerchantSettings): Promise<MerchantSettings | Refusal> =>
      turns.take(wallet, () =>
        transaction(pool, async (db) => {
          await lockWallet(db, wallet);
          if (isSame(await readSettings(db, wallet), settings)) return settings;
          const refused = await refuseTooManyChanges(db, wallet);
          if (refused !== undefined) return refused;
          await saveSettings(db, { wallet, ...settings });
          const { displayName, contact, language } = settings;
          // Who a wallet said it was, and when, is what there is to look at where it posed as somebody else.
          const about = { displayName, contact, language: language ?? "" };
          await writeAudit(db, { wallet, actor: "wallet", action: settingsChanged, about });
          return settings;
        }),
      ),
  };
}

function isSame(one: MerchantSettings, other: MerchantSettings): boolean {
  return (
    one.displayName === other.displayName && one.contact === other.contact && one.language === other.language
  );
}

async function refuseTooManyChanges(
  db: Pick<Queryable, "query">,
  wallet: string,
): Promise<Refusal | undefined> {
  const { rows } = await db.query({
    text: `select count(*)::int as changes, min(at) as first, now() as now from svc.audit_log
      where wallet = $1 and action = $2 and at > now() - interval '1 day'`,
    values: [bytesOf(wallet), settingsChanged],
  });
  const row = onlyRow(rows);
  if (readInteger(row, "changes") < changesPerDayMax) return undefined;
  const nowMs = readTime(row, "now").getTime();
  const firstMs = readNullable(readTime, row, "first")?.getTime() ?? nowMs;
  return refusal("rate_limited", `At most ${changesPerDayMax} changes of a wallet's settings in 24 hours`, {
    retryAfterMs: Math.max(1000, firstMs + dayMs - nowMs),
  });
}
