import { type Refusal, refusal } from "../../../lib/http-service/refusal.ts";
import type { Queryable } from "../../../lib/postgres/queryable.ts";
import { onlyRow, readInteger } from "../../../lib/postgres/row.ts";
import { bytesOf } from "../../read/columns.ts";

/** Keys of a wallet that are neither expired nor revoked, by the database's clock. */
export async function countActiveKeys(db: Pick<Queryable, "query">, wallet: string): Promise<number> {
  const { rows } = await db.query({
    text: `select count(*)::int as active from svc.api_keys
      where wallet = $1 and revoked_at is null and expires_at > now()`,
    values: [bytesOf(wallet)],
  });
  return readInteger(onlyRow(rows), "active");
}

/** Where the wallet has all the keys that it can have; counted under the wallet's lock. */
export async function refuseAtKeyLimit({
  db,
  wallet,
  activeKeysMax,
}: {
  db: Pick<Queryable, "query">;
  wallet: string;
  activeKeysMax: number;
}): Promise<Refusal | undefined> {
  if ((await countActiveKeys(db, wallet)) < activeKeysMax) return undefined;
  return refusal(
    "key_limit_reached",
    `A wallet has at most ${activeKeysMax} active keys: revoke one, or wait until one expires. A paid order keeps its value until then`,
  );
}
