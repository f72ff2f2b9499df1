import type { Queryable } from "../../../lib/postgres/queryable.ts";
import { readNullable, readText } from "../../../lib/postgres/row.ts";
import { isLanguage, type Language } from "../../../lib/web/languages.ts";
import { bytesOf } from "../../read/columns.ts";

type Db = Pick<Queryable, "query">;

/** What a merchant tells its customers about itself; empty: nothing. */
export type MerchantSettings = {
  /** At most 60 characters. */
  displayName: string;
  /** Where customers ask about an order: an address, a number or a sentence of at most 120 characters. */
  contact: string;
  /** In which its customers are spoken to where their browser does not say; null: the site's own. */
  language: Language | null;
};

const none: MerchantSettings = { displayName: "", contact: "", language: null };

/** A wallet's settings; those of a wallet that has saved none are empty. */
export async function readSettings(db: Db, wallet: string): Promise<MerchantSettings> {
  const { rows } = await db.query({
    name: "settings-of-wallet",
    text: "select display_name, contact, language from svc.wallets where address = $1",
    values: [bytesOf(wallet)],
  });
  const [row] = rows;
  if (row === undefined) return none;
  const language = readNullable(readText, row, "language");
  return {
    displayName: readText(row, "display_name"),
    contact: readText(row, "contact"),
    language: isLanguage(language) ? language : null,
  };
}

/** Saves a wallet's settings, in place of those it had. The wallet's row has to be there: a session has made it. */
export async function saveSettings(
  db: Db,
  { wallet, displayName, contact, language }: MerchantSettings & { wallet: string },
): Promise<void> {
  await db.query({
    text: "update svc.wallets set display_name = $2, contact = $3, language = $4 where address = $1",
    values: [bytesOf(wallet), displayName, contact, language],
  });
}
