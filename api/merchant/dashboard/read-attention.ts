import type { Queryable } from "../../../lib/postgres/queryable.ts";
import { onlyRow, readInteger, readText, readTime } from "../../../lib/postgres/row.ts";
import { bytesOf } from "../../read/columns.ts";
import { days, timeZone } from "./read-dashboard.ts";

type Some = { count: number; amountIdr: number };

/** What of a wallet's last 30 days waits, and what somebody has to look at. */
export type Attention = {
  /** The first of the days, of Jakarta: YYYY-MM-DD. */
  since: string;
  /** Waits for its payment. */
  open: Some;
  /** With what is missing, in rupiah. */
  underpaid: Some;
  late: Some;
  /** With what is too much, in rupiah. */
  overpaid: Some;
  /** Active keys that end within a week, the next one first. */
  expiringKeys: { hint: string; label: string; expiresAt: Date }[];
};

const expiringDays = 7;
/** A wallet has five active keys, unless its operator lets it have more. */
const keysMax = 20;

export async function readAttention({
  db,
  wallet,
  nowMs,
}: {
  db: Pick<Queryable, "query">;
  wallet: string;
  nowMs: number;
}): Promise<Attention> {
  const owner = bytesOf(wallet);
  const now = new Date(nowMs);
  const [invoices, keys] = await Promise.all([
    db.query({ name: "attention-invoices", text: invoicesText, values: [owner, now, timeZone, days] }),
    db.query({ name: "attention-keys", text: keysText, values: [owner, now, expiringDays, keysMax] }),
  ]);
  const sums = onlyRow(invoices.rows);
  const some = (name: string): Some => ({
    count: readInteger(sums, `${name}_count`),
    amountIdr: readInteger(sums, `${name}_idr`),
  });
  return {
    since: readText(sums, "since"),
    open: some("open"),
    underpaid: some("underpaid"),
    late: some("late"),
    overpaid: some("overpaid"),
    expiringKeys: keys.rows.map((row) => ({
      hint: readText(row, "hint"),
      label: readText(row, "label"),
      expiresAt: readTime(row, "expires_at"),
    })),
  };
}

const invoicesText = `with first as (select ($2::timestamptz at time zone $3)::date - ($4::int - 1) as day),
  mine as (
    select state, amount_idr, amount, received from svc.invoices, first
    where wallet = $1 and created_at >= first.day::timestamp at time zone $3
      and state in ('open', 'underpaid', 'paid_late', 'overpaid')
  )
  select (select day::text from first) as since,
    count(*) filter (where state = 'open')::int as open_count,
    coalesce(sum(amount_idr) filter (where state = 'open'), 0) as open_idr,
    count(*) filter (where state = 'underpaid')::int as underpaid_count,
    coalesce(sum(round(amount_idr * (amount - received) / amount)) filter (where state = 'underpaid'), 0) as underpaid_idr,
    count(*) filter (where state = 'paid_late')::int as late_count,
    coalesce(sum(amount_idr) filter (where state = 'paid_late'), 0) as late_idr,
    count(*) filter (where state = 'overpaid')::int as overpaid_count,
    coalesce(sum(round(amount_idr * (received - amount) / amount)) filter (where state = 'overpaid'), 0) as overpaid_idr
  from mine`;

const keysText = `select hint, label, expires_at from svc.api_keys
  where wallet = $1 and revoked_at is null and expires_at > $2
    and expires_at < $2::timestamptz + make_interval(days => $3)
  order by expires_at limit $4`;
