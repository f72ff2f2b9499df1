import type { Queryable } from "../../../lib/postgres/queryable.ts";
import { readText } from "../../../lib/postgres/row.ts";
import { bytesOf } from "../../read/columns.ts";
import type { InvoiceState } from "../ledger/invoice-state.ts";
import { type Invoice, type InvoicePayment, invoiceColumns, readInvoice, readPayment } from "./invoice.ts";
import { paymentsToldMax } from "./invoice-record.ts";
import { type InvoiceSearch, searchCondition } from "./invoice-search.ts";
import type { ListCursor } from "./list-cursor.ts";

type Db = Pick<Queryable, "query">;

export type InvoiceFilter = {
  state?: InvoiceState | undefined;
  reference?: string | undefined;
  /** Days of Jakarta, YYYY-MM-DD, both included. */
  from?: string | undefined;
  to?: string | undefined;
  search?: InvoiceSearch | undefined;
};

const timeZone = "Asia/Jakarta";

/** An invoice, whoever's it is; undefined where there is none. */
export async function findInvoice(db: Db, id: string): Promise<Invoice | undefined> {
  const { rows } = await db.query({
    name: "invoice",
    text: `select ${invoiceColumns} from svc.invoices i where i.id = $1`,
    values: [id],
  });
  const [row] = rows;
  return row === undefined ? undefined : readInvoice(row);
}

/** The invoice of a payment link; undefined where there is none. */
export async function findInvoiceByPayToken(db: Db, payToken: string): Promise<Invoice | undefined> {
  const { rows } = await db.query({
    name: "invoice-by-pay-token",
    text: `select ${invoiceColumns} from svc.invoices i where i.pay_token = $1`,
    values: [payToken],
  });
  const [row] = rows;
  return row === undefined ? undefined : readInvoice(row);
}

/** A wallet's invoices below a cursor, newest first. */
export async function listInvoices(
  db: Db,
  {
    wallet,
    filter,
    before,
    count,
  }: { wallet: string; filter: InvoiceFilter; before: ListCursor | undefined; count: number },
): Promise<Invoice[]> {
  const found = searchCondition(filter.search, "$10");
  const { rows } = await db.query({
    // A search has a plan of its own.
    name: `invoices-of-wallet${found.name}`,
    text: `select ${invoiceColumns} from svc.invoices i
      where i.wallet = $1
        and ($2::bigint is null or (i.created_at, i.id) < (timestamptz 'epoch' + $2::bigint * interval '1 microsecond', $3::uuid))
        and ($4::text is null or i.state = $4)
        and ($5::text is null or i.reference = $5)
        and ($6::date is null or i.created_at >= $6::date::timestamp at time zone $8)
        and ($7::date is null or i.created_at < ($7::date + 1)::timestamp at time zone $8)
        ${found.text}
      order by i.created_at desc, i.id desc limit $9`,
    values: [
      ...[bytesOf(wallet), before === undefined ? null : String(before.createdAtMicros), before?.id ?? null],
      ...[filter.state ?? null, filter.reference ?? null, filter.from ?? null, filter.to ?? null],
      ...[timeZone, count, ...found.values],
    ],
  });
  return rows.map(readInvoice);
}

/** What arrived for each invoice, oldest first, by the orders' ids. */
export async function paymentsOf(
  db: Db,
  invoices: readonly Invoice[],
): Promise<ReadonlyMap<string, InvoicePayment[]>> {
  const paid = invoices.filter(({ received }) => received > 0n);
  if (paid.length === 0) return new Map();
  const { rows } = await db.query({
    name: "payments-of-invoices",
    text: `select p.* from unnest($1::uuid[]) as asked (order_id)
      cross join lateral (
        select order_id, way, amount, tx_hash, payer, block_number, block_at, received_after from svc.payments
        where payments.order_id = asked.order_id order by received_after limit $2
      ) p order by p.order_id, p.received_after`,
    values: [paid.map(({ orderId }) => orderId), paymentsToldMax],
  });
  const byOrder = Map.groupBy(rows, (row) => readText(row, "order_id"));
  return new Map([...byOrder].map(([order, found]) => [order, found.map(readPayment)]));
}

/** Cancels an invoice for which nothing has arrived; says whether it did. */
export async function cancelInvoice(db: Db, id: string): Promise<boolean> {
  const { rowCount } = await db.query({
    text: `update svc.invoices set state = 'canceled', canceled_at = now()
      where id = $1 and state = 'open' and received = 0`,
    values: [id],
  });
  return rowCount === 1;
}
