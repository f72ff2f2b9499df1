import { checksumAddress } from "../../../lib/chain/checksum-address.ts";
import type { SignedOrder } from "../../../lib/fee-collector/fee-calls.ts";
import type { Queryable } from "../../../lib/postgres/queryable.ts";
import { type Row, readBigint, readHex, readText, readTime } from "../../../lib/postgres/row.ts";

type Db = Pick<Queryable, "query">;

/** An invoice's order, as the FeeCollector takes it; `invoiceId` is a UUID. */
export type InvoiceOrder = SignedOrder & { invoiceId: string; feeCollector: string };

/** Who set out to empty a box has so long until another one does. */
const againSeconds = 60;

const columns = `i.id as invoice_id, o.ref, o.payee, o.amount, o.fee, o.valid_until, o.signature, e.fee_collector`;
const tables = `svc.invoices i join svc.orders o on o.id = i.order_id join svc.chain_epochs e using (epoch)`;

/** The order of an invoice of this chain; undefined where it is of an earlier one. */
export async function findInvoiceOrder(db: Db, invoiceId: string): Promise<InvoiceOrder | undefined> {
  const { rows } = await db.query({
    name: "order-of-invoice",
    text: `select ${columns} from ${tables} where i.id = $1 and o.epoch = svc.current_epoch()`,
    values: [invoiceId],
  });
  const [row] = rows;
  return row === undefined ? undefined : readInvoiceOrder(row);
}

/**
 * Boxes that are due: in which something lies, of invoices that are complete or watched no longer. Each is one process's for a
 * minute. Until then what lies there is passed on and booked; where it is not, it is due again.
 */
export async function takeDueBoxes(db: Db, { boxesMax }: { boxesMax: number }): Promise<InvoiceOrder[]> {
  const { rows } = await db.query({
    name: "due-boxes",
    text: `with due as (
        select i.id from svc.invoices i join svc.orders o on o.id = i.order_id
        where i.booked < i.received and o.epoch = svc.current_epoch()
          and (i.received >= i.amount or i.watch_until < (select boxes_at from svc.chain_cursor))
          and (i.collected_at is null or i.collected_at < now() - make_interval(secs => $1))
        order by i.watch_until limit $2 for update of i skip locked
      ), taken as (
        update svc.invoices set collected_at = now() from due where invoices.id = due.id returning invoices.id
      )
      select ${columns} from taken join ${tables} on i.id = taken.id`,
    values: [againSeconds, boxesMax],
  });
  return rows.map(readInvoiceOrder);
}

function readInvoiceOrder(row: Row): InvoiceOrder {
  return {
    invoiceId: readText(row, "invoice_id"),
    feeCollector: checksumAddress(readHex(row, "fee_collector")),
    signature: readHex(row, "signature"),
    order: {
      ref: readHex(row, "ref"),
      source: "payments",
      payee: checksumAddress(readHex(row, "payee")),
      amount: readBigint(row, "amount"),
      fee: readBigint(row, "fee"),
      validUntil: readTime(row, "valid_until").getTime() / 1000,
    },
  };
}
