import type { Queryable } from "../../lib/postgres/queryable.ts";
import { settingsChanged } from "./settings/settings.ts";
import type { SweepTask } from "./sweep.ts";

/** Rows that one statement removes. */
const rowsMax = 1000;
const keptDays = 7;

/**
 * Removes orders of keys that nobody has paid, a week after they could be paid last. By the time of the ledger's own last
 * block, never by the clock: what was paid in time and is not booked yet is not removed, however long the ledger was away.
 */
export function removeUnpaidOrders(db: Pick<Queryable, "query">): SweepTask {
  return async () => {
    const { rowCount } = await db.query({
      name: "remove-unpaid-orders",
      text: `delete from svc.orders where id = any(array(
        select o.id from svc.orders o
        where o.kind <> 'invoice' and o.paid_at is null
          and o.valid_until < (select last_block_at from svc.chain_cursor) - make_interval(days => $1)
          and not exists (select from svc.payments p where p.order_id = o.id)
        order by o.valid_until
        limit $2 for update of o skip locked))`,
      values: [keptDays, rowsMax],
    });
    return { hasMore: rowCount === rowsMax };
  };
}

/**
 * Removes wallets that have signed in once and left nothing behind: no session, no order, no key, no invoice. Settings alone keep no wallet:
 * signing in costs nothing, and anybody could fill the table with names. What was noted of them goes as well.
 */
export function removeUnusedWallets(db: Pick<Queryable, "query">): SweepTask {
  const used = ["sessions", "orders", "api_keys", "invoices"].map(
    (table) => `not exists (select from svc.${table} t where t.wallet = w.address)`,
  );
  return async () => {
    const { rowCount } = await db.query({
      name: "remove-unused-wallets",
      text: `with removed as (
          delete from svc.wallets where address = any(array(
            select w.address from svc.wallets w
            where w.created_at < now() - make_interval(days => $1) and ${used.join(" and ")}
            order by w.created_at
            limit $2 for update of w skip locked))
          returning address),
        forgotten as (
          delete from svc.audit_log l using removed r where l.wallet = r.address and l.action = '${settingsChanged}')
        select 1 from removed`,
      values: [keptDays, rowsMax],
    });
    return { hasMore: rowCount === rowsMax };
  };
}
