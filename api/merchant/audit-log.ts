import { type Refusal, refusal } from "../../lib/http-service/refusal.ts";
import type { Queryable } from "../../lib/postgres/queryable.ts";
import { onlyRow, readInteger, readNullable, readTime } from "../../lib/postgres/row.ts";
import { bytesOf } from "../read/columns.ts";

const dayMs = 86_400_000;

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

/**
 * Why a wallet does no more of some actions today, of which each is noted for good. Exact where it is asked under the lock that
 * those actions take.
 */
export async function refuseTooManyChanges(
  db: Pick<Queryable, "query">,
  {
    wallet,
    actions,
    perDayMax,
    what,
  }: { wallet: string; actions: readonly string[]; perDayMax: number; what: string },
): Promise<Refusal | undefined> {
  const { rows } = await db.query({
    text: `select count(*)::int as changes, min(at) as first, now() as now from svc.audit_log
      where wallet = $1 and action = any($2::text[]) and at > now() - interval '1 day'`,
    values: [bytesOf(wallet), actions],
  });
  const row = onlyRow(rows);
  if (readInteger(row, "changes") < perDayMax) return undefined;
  const nowMs = readTime(row, "now").getTime();
  const firstMs = readNullable(readTime, row, "first")?.getTime() ?? nowMs;
  return refusal("rate_limited", `At most ${perDayMax} changes of ${what} in 24 hours`, {
    retryAfterMs: Math.max(1000, firstMs + dayMs - nowMs),
  });
}
