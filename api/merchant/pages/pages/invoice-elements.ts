import { type Html, html } from "../../../../lib/web/html.ts";
import type { DashboardRecord } from "../../dashboard/dashboard-record.ts";
import { formatRupiah } from "../../invoices/format-rupiah.ts";
import type { InvoiceRecord } from "../../invoices/invoice-record.ts";
import type { InvoiceState } from "../../ledger/invoice-state.ts";
import { message, moment } from "../elements.ts";
import type { MerchantContext, SignedIn } from "../merchant-page.ts";

type Named = Pick<InvoiceRecord, "id" | "customerLabel" | "reference">;

const signs: Record<InvoiceState, readonly [kind: "success" | "failed" | "pending", sign: string]> = {
  open: ["pending", "…"],
  underpaid: ["failed", "!"],
  paid: ["success", "✓"],
  overpaid: ["success", "✓+"],
  paid_late: ["failed", "✓!"],
  expired: ["pending", "–"],
  canceled: ["pending", "–"],
};

/** An invoice's state by word, sign and colour. */
export function invoiceStatus({ words }: MerchantContext, state: InvoiceState): Html {
  const [kind, sign] = signs[state];
  return html`<span class="status ${kind}"><span aria-hidden="true">${sign}</span> ${words.invoices.states[state]}</span>`;
}

/** What people call an invoice. */
export function nameOfInvoice({ id, customerLabel, reference }: Named): string {
  const names = [reference ?? "", customerLabel].filter((name) => name !== "");
  return names.length === 0 ? id : names.join(", ");
}

/** Wei of an invoice in its own rupiah, to the next whole one, and in tokens. */
export function inRupiah(
  { el }: MerchantContext,
  { amountIdr, amountWei }: Pick<InvoiceRecord, "amountIdr" | "amountWei">,
  wei: string,
): string {
  const price = BigInt(amountWei);
  const rupiah = (2n * BigInt(amountIdr) * BigInt(wei) + price) / (2n * price);
  return `${formatRupiah(Number(rupiah))} (${el.tokens(wei)})`;
}

/** Invoices a row each, which lead to their pages. */
export function invoiceRows(
  context: SignedIn,
  {
    caption,
    invoices,
  }: { caption: string; invoices: readonly (InvoiceRecord | DashboardRecord["latest"][number])[] },
): Html {
  const rows = invoices.map((invoice) => {
    const { customerLabel, reference } = invoice;
    const name = customerLabel === "" ? nameOfInvoice(invoice) : customerLabel;
    const number = customerLabel === "" || reference === null ? html`` : html`${reference} · `;
    return html`<li><p class="invoice-name"><a href="${context.el.to(`merchant/invoices/${invoice.id}`)}">${name}</a><br>
<span class="soft">${number}${moment(context, invoice.createdAt)}</span></p>
<p class="invoice-amount"><strong>${formatRupiah(invoice.amountIdr)}</strong><br>
${invoiceStatus(context, invoice.state)}</p></li>`;
  });
  return html`<ul class="rows invoices" aria-label="${caption}">${rows}</ul>`;
}

/** Another wallet's is none that there is. */
export function missingInvoice(context: SignedIn) {
  const { missing, missingHelp } = context.words.invoices.one;
  return message(context, { title: missing, help: missingHelp, status: 404, path: "merchant/invoices" });
}
