import type { Queryable } from "../../lib/postgres/queryable.ts";
import { bytesOf } from "../read/columns.ts";

/** Notes who did what, in the transaction that does it. `about` holds ids, never a secret. */
export async function writeAudit(
  db: Pick<Queryable, "query">,
  {
    wallet,
    actor,
    action,
    about,
  }: {
    wallet: string;
    actor: "wallet" | "key" | "operator";
    action: string;
    about: Readonly<Record<string, string>>;
  },
): Promise<void> {
  await db.query({
    text: "insert into svc.audit_log (wallet, actor, action, about) values ($1, $2, $3, $4)",
    values: [bytesOf(wallet), actor, action, JSON.stringify(about)],
  });
}
