import { csvField } from "../../read/csv.ts";
import type { InvoiceRecord } from "./invoice-record.ts";

export const csvRowsMax = 10_000;

export type Separator = "," | ";";

const columns: readonly (readonly [string, (invoice: InvoiceRecord) => string | number | null])[] = [
  ["id", ({ id }) => id],
  ["createdAt", ({ createdAt }) => createdAt],
  ["state", ({ state }) => state],
  ["late", ({ late }) => String(late)],
  ["amountIdr", ({ amountIdr }) => amountIdr],
  ["customerLabel", ({ customerLabel }) => customerLabel],
  ["note", ({ note }) => note],
  ["reference", ({ reference }) => reference],
  ["amount", ({ amount }) => amount],
  ["amountWei", ({ amountWei }) => amountWei],
  ["receivedWei", ({ receivedWei }) => receivedWei],
  ["dueWei", ({ dueWei }) => dueWei],
  ["overpaidWei", ({ overpaidWei }) => overpaidWei],
  ["idrPerToken", ({ rate }) => rate.idrPerToken],
  ["expiresAt", ({ expiresAt }) => expiresAt],
  ["paidAt", ({ paidAt }) => paidAt],
  ["depositAddress", ({ depositAddress }) => depositAddress],
  ["payUrl", ({ payUrl }) => payUrl],
];

/** The line of column names. */
export function csvHead(separator: Separator): string {
  return `${columns.map(([name]) => name).join(separator)}\r\n`;
}

/** Lines of invoices: what a customer's name or a note would have a spreadsheet run stays a text. */
export function csvLines(invoices: readonly InvoiceRecord[], separator: Separator): string {
  return invoices
    .map(
      (invoice) => `${columns.map(([, value]) => csvField(value(invoice), separator)).join(separator)}\r\n`,
    )
    .join("");
}
