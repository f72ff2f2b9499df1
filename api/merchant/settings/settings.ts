import type { Refusal } from "../../../lib/http-service/refusal.ts";
import type { PostgresPool } from "../../../lib/postgres/postgres-pool.ts";
import { transaction } from "../../../lib/postgres/transaction.ts";
import { refuseTooManyChanges, writeAudit } from "../audit-log.ts";
import { lockWallet } from "../orders/order-store.ts";
import type { WalletTurns } from "../wallet-turns.ts";
import { type MerchantSettings, readSettings, saveSettings } from "./settings-store.ts";

export type Settings = ReturnType<typeof createSettings>;

/** Anybody who signs in can change settings, and each change is noted for good. */
export const changesPerDayMax = 20;
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
          const refused = await refuseTooManyChanges(db, {
            ...{ wallet, actions: [settingsChanged], perDayMax: changesPerDayMax },
            what: "a wallet's settings",
          });
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
