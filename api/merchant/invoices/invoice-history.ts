import type { Queryable } from "../../../lib/postgres/queryable.ts";
import { onlyRow, readBigint, readNullable, readText, readTime } from "../../../lib/postgres/row.ts";
import { timeOf } from "../times.ts";
import { type DeliveryRecord, deliveryColumns, readDelivery } from "../webhooks/delivery-record.ts";

/** What an invoice's record does not tell programs: who made it, and what became of it after it was paid. */
export type InvoiceHistory = {
  /** Null: the wallet itself, by the pages. */
  madeBy: { hint: string; label: string } | null;
  canceledAt: string | null;
  /** Of what was received: what the FeeCollector has passed on, in wei. */
  passedOnWei: string;
  /** When somebody last set out to pass on what lay in the box. */
  collectedAt: string | null;
  /** Newest first; an invoice has two events. */
  deliveries: DeliveryRecord[];
};

/** @throws Error where there is no such invoice. */
export async function readInvoiceHistory(
  db: Pick<Queryable, "query">,
  invoiceId: string,
): Promise<InvoiceHistory> {
  const [facts, deliveries] = await Promise.all([
    db.query({
      name: "history-of-invoice",
      text: `select i.canceled_at, i.collected_at, i.booked, k.hint, k.label
        from svc.invoices i left join svc.api_keys k on k.id = i.created_by_key where i.id = $1`,
      values: [invoiceId],
    }),
    db.query({
      name: "deliveries-of-invoice",
      text: `select ${deliveryColumns} from svc.invoices i join svc.webhook_events v using (order_id)
        join svc.webhook_deliveries d on d.event_id = v.id where i.id = $1 order by v.sequence desc`,
      values: [invoiceId],
    }),
  ]);
  const row = onlyRow(facts.rows);
  const momentOf = (column: string) => {
    const at = readNullable(readTime, row, column);
    return at === null ? null : timeOf(at).text;
  };
  const hint = readNullable(readText, row, "hint");
  return {
    madeBy: hint === null ? null : { hint, label: readText(row, "label") },
    canceledAt: momentOf("canceled_at"),
    passedOnWei: String(readBigint(row, "booked")),
    collectedAt: momentOf("collected_at"),
    deliveries: deliveries.rows.map(readDelivery),
  };
}
