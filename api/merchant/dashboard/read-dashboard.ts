import type { Queryable } from "../../../lib/postgres/queryable.ts";
import {
  onlyRow,
  type Row,
  readBigint,
  readInteger,
  readNullable,
  readText,
  readTime,
} from "../../../lib/postgres/row.ts";
import { bytesOf } from "../../read/columns.ts";
import { countActiveKeys } from "../api-keys/active-keys.ts";
import { publicId } from "../public-id.ts";
import { timeOf } from "../times.ts";
import { type DashboardRecord, dashboardRecord } from "./dashboard-record.ts";

/** Of merchants and their customers. */
export const timeZone = "Asia/Jakarta";
/** What a dashboard looks back. */
export const days = 30;
const latestMax = 5;

/** A wallet's dashboard. Days are those of Jakarta; an invoice counts on the day on which its amount was complete, by the block's time. */
export async function readDashboard({
  db,
  wallet,
  activeKeysMax,
  nowMs,
}: {
  db: Pick<Queryable, "query">;
  wallet: string;
  activeKeysMax: number;
  nowMs: number;
}): Promise<DashboardRecord> {
  const owner = bytesOf(wallet);
  const [totals, series, latest, active, webhook] = await Promise.all([
    db.query({ name: "dashboard-totals", text: totalsText, values: [owner] }),
    db.query({
      name: "dashboard-series",
      text: seriesText,
      values: [owner, new Date(nowMs), timeZone, days],
    }),
    db.query({ name: "dashboard-latest", text: latestText, values: [owner, latestMax] }),
    countActiveKeys(db, wallet),
    db.query({ name: "dashboard-webhook", text: webhookText, values: [owner] }),
  ]);
  const sums = onlyRow(totals.rows);
  const byDay = series.rows.map(dayOf);
  return {
    wallet,
    currency: "IDR",
    timeZone,
    invoices: {
      open: readInteger(sums, "open"),
      underpaid: readInteger(sums, "underpaid"),
      paid: readInteger(sums, "paid"),
      overpaid: readInteger(sums, "overpaid"),
      paidLate: readInteger(sums, "paid_late"),
      expired: readInteger(sums, "expired"),
      canceled: readInteger(sums, "canceled"),
    },
    received: {
      todayIdr: byDay.at(-1)?.amountIdr ?? 0,
      last30DaysIdr: byDay.reduce((sum, { amountIdr }) => sum + amountIdr, 0),
      totalIdr: readInteger(sums, "total_idr"),
      totalWei: String(readBigint(sums, "total_wei")),
    },
    series: byDay,
    latest: latest.rows.map(latestOf),
    keys: { active, max: activeKeysMax },
    webhook: webhook.rows.map(webhookOf)[0] ?? { state: "none", failed24h: 0 },
  };
}

const totalsText = `select
    count(*) filter (where state = 'open')::int as open,
    count(*) filter (where state = 'underpaid')::int as underpaid,
    count(*) filter (where state = 'paid')::int as paid,
    count(*) filter (where state = 'overpaid')::int as overpaid,
    count(*) filter (where state = 'paid_late')::int as paid_late,
    count(*) filter (where state = 'expired')::int as expired,
    count(*) filter (where state = 'canceled')::int as canceled,
    coalesce(sum(amount_idr) filter (where paid_at is not null), 0) as total_idr,
    coalesce(sum(received), 0) as total_wei
  from svc.invoices where wallet = $1`;

/** Every day has a row. The time bound lets an index skip older invoices; the day itself decides. */
const seriesText = `with day as (
    select generate_series(date - ($4::int - 1), date, interval '1 day')::date as date
    from (select ($2::timestamptz at time zone $3)::date as date) today
  ), done as (
    select (paid_at at time zone $3)::date as date, amount_idr, received
    from svc.invoices where wallet = $1 and paid_at >= $2::timestamptz - make_interval(days => $4::int + 1)
  )
  select day.date::text as date, count(done.date)::int as paid,
    coalesce(sum(done.amount_idr), 0) as amount_idr, coalesce(sum(done.received), 0) as amount_wei
  from day left join done using (date) group by day.date order by day.date`;

const latestText = `select id, state, amount_idr, customer_label, reference, amount, received, created_at, paid_at
  from svc.invoices where wallet = $1 order by created_at desc, id desc limit $2`;

/** Events of a day that were tried and are not delivered, or were dropped. */
const webhookText = `select case when e.disabled_at is not null then 'disabled' when e.failing_since is not null then 'failing'
      else 'active' end as state,
    (select count(*)::int from svc.webhook_events v join svc.webhook_deliveries d on d.event_id = v.id
      where v.wallet = e.wallet and v.created_at > now() - interval '24 hours'
        and (d.state in ('dead', 'dropped') or (d.state = 'waiting' and d.attempts > 0))) as failed
  from svc.webhook_endpoints e where e.wallet = $1`;

function webhookOf(row: Row): DashboardRecord["webhook"] {
  return { state: webhookState.parse(row["state"]), failed24h: readInteger(row, "failed") };
}

function dayOf(row: Row): DashboardRecord["series"][number] {
  return {
    date: readText(row, "date"),
    paid: readInteger(row, "paid"),
    amountIdr: readInteger(row, "amount_idr"),
    amountWei: String(readBigint(row, "amount_wei")),
  };
}

const { state: webhookState } = dashboardRecord.shape.webhook.shape;
const { state: stateSchema } = dashboardRecord.shape.latest.element.shape;

function latestOf(row: Row): DashboardRecord["latest"][number] {
  const created = timeOf(readTime(row, "created_at"));
  const paidAt = readNullable(readTime, row, "paid_at");
  const paid = paidAt === null ? null : timeOf(paidAt);
  return {
    id: publicId("inv", readText(row, "id")),
    state: stateSchema.parse(row["state"]),
    amountIdr: readInteger(row, "amount_idr"),
    customerLabel: readText(row, "customer_label"),
    reference: readNullable(readText, row, "reference"),
    amountWei: String(readBigint(row, "amount")),
    receivedWei: String(readBigint(row, "received")),
    createdAt: created.text,
    createdAtUnix: created.unix,
    paidAt: paid?.text ?? null,
    paidAtUnix: paid?.unix ?? null,
  };
}
