import { checksumAddress } from "../../../lib/chain/checksum-address.ts";
import type { Queryable } from "../../../lib/postgres/queryable.ts";
import { type Row, readBigint, readHex, readText } from "../../../lib/postgres/row.ts";
import type { PaymentRecord } from "../events/event-record.ts";
import { type Invoice, invoiceColumns, readInvoice } from "../invoices/invoice.ts";
import { invoiceRecordOf } from "../invoices/invoice-record.ts";
import { paymentsOf } from "../invoices/invoice-store.ts";
import type { Payment } from "../ledger/book-order.ts";
import { tokensOf } from "../orders/order-record.ts";
import { publicId } from "../public-id.ts";
import { timeOf } from "../times.ts";
import { insertEvents, type NewEvent } from "./event-store.ts";

/**
 * Writes what wallets are told of orders that became complete: `payment.completed` for each, and `invoice.paid` for an invoice. In
 * the transaction that books them, after it has written what they are now; so an event is there exactly where its payment is.
 */
export async function writePaymentEvents(
  db: Queryable,
  { completed, publicUrl }: { completed: readonly Payment[]; publicUrl: string },
): Promise<void> {
  if (completed.length === 0) return;
  const ids = completed.map(({ orderId }) => orderId);
  const orders = await db.query({
    text: "select id, kind, wallet, amount from svc.orders where id = any($1::uuid[])",
    values: [ids],
  });
  const found = await db.query({
    text: `select ${invoiceColumns} from svc.invoices i where i.order_id = any($1::uuid[])`,
    values: [ids],
  });
  const invoices = found.rows.map(readInvoice);
  const payments = await paymentsOf(db, invoices);
  const orderOf = new Map(orders.rows.map((row) => [readText(row, "id"), row]));
  const invoiceOf = new Map(invoices.map((invoice) => [invoice.orderId, invoice]));
  const events = completed.flatMap((payment): NewEvent[] => {
    const { orderId, block } = payment;
    const order = orderOf.get(orderId);
    if (order === undefined) return [];
    const invoice = invoiceOf.get(orderId);
    const about = { wallet: readHex(order, "wallet"), orderId, atMs: block.timestamp * 1000 };
    const data = { payment: paymentOf(order, payment, invoice) };
    const completedEvent: NewEvent = { ...about, type: "payment.completed", data };
    if (invoice === undefined) return [completedEvent];
    const record = invoiceRecordOf({ invoice, payments: payments.get(orderId) ?? [], publicUrl });
    return [completedEvent, { ...about, type: "invoice.paid", data: { invoice: record } }];
  });
  await insertEvents(db, events);
}

function paymentOf(
  order: Row,
  { orderId, payer, txHash, block }: Payment,
  invoice: Invoice | undefined,
): PaymentRecord {
  const amount = readBigint(order, "amount");
  const paid = timeOf(new Date(block.timestamp * 1000));
  return {
    kind: readText(order, "kind"),
    orderId: publicId("ord", orderId),
    ...(invoice === undefined ? {} : { invoiceId: publicId("inv", invoice.id) }),
    amount: tokensOf(amount),
    amountWei: String(amount),
    payer: payer === null ? null : checksumAddress(payer),
    txHash,
    blockNumber: block.number,
    paidAt: paid.text,
    paidAtUnix: paid.unix,
  };
}
