import { network } from "../../../../lib/network.ts";
import { facts } from "../../../../lib/web/elements/table.ts";
import { type Html, html } from "../../../../lib/web/html.ts";
import { formatRupiah } from "../../invoices/format-rupiah.ts";
import { publicId } from "../../public-id.ts";
import type { CheckoutContext, CheckoutPage } from "../checkout-page.ts";
import type { CustomerInvoice } from "../customer-invoice.ts";
import { arrivedFacts, backLink, contactText, moment, momentText, shopName, stateText } from "../elements.ts";
import { isFinal } from "../payment-streams.ts";
import { rupiahText } from "./pay.ts";

/** What was paid, for keeping and printing. What is not paid says so, or it would be shown around as one. */
export function receiptPage(context: CheckoutContext, shown: CustomerInvoice): CheckoutPage {
  const { words, el } = context;
  const { receipt } = words;
  const { invoice, payments } = shown;
  const isPaid = isFinal(invoice);
  const title = isPaid ? receipt.title : receipt.notYet;
  const state = stateText(context, shown);
  const head = isPaid
    ? html`<p class="badge" data-tone="${shown.phase === "late" ? "due" : "good"}">${state}</p>`
    : html`<p class="alarm">${receipt.notYetHelp(state)}</p>`;
  const arrived =
    payments.length === 0
      ? html``
      : html`<section class="card" aria-labelledby="arrived"><h2 id="arrived">${words.arrived.title}</h2>
${arrivedFacts(context, shown)}
<p class="hint">${receipt.proof}</p></section>`;
  return {
    title: `${title} ${formatRupiah(invoice.amountIdr)}`,
    description: `${shopName(context, shown)}: ${state}`,
    invoice: shown,
    main: html`<div class="receipt" id="receipt">
<section class="card" aria-labelledby="title">
<h1 id="title">${title}</h1>
${head}
${receiptFacts(context, shown)}
${isPaid ? html`<p class="hint">${receipt.testnet}</p>` : html``}
<p class="actions">${isPaid ? html`<button type="button" id="print" hidden>${receipt.print}</button>` : html``}<a class="button quiet" href="${el.to(`pay/${invoice.payToken}`)}">${receipt.back}</a>${backLink(context, shown)}</p>
</section>
${arrived}
</div>`,
  };
}

function receiptFacts(context: CheckoutContext, shown: CustomerInvoice): Html {
  const { words, el } = context;
  const { receipt, bill, ways } = words;
  const { invoice, merchant } = shown;
  const { rate } = invoice;
  const price = bill.rate(network.nativeCurrency.symbol, rupiahText(rate.idrPerToken));
  return facts([
    [receipt.total, html`<strong class="total">${formatRupiah(invoice.amountIdr)}</strong>`],
    [receipt.tokens, el.tokens(String(invoice.amount))],
    [receipt.received, el.tokens(String(invoice.received))],
    [receipt.rate, receipt.rateAt(price, momentText(context, rate.at))],
    invoice.paidAt === null ? undefined : [receipt.paidAt, moment(context, invoice.paidAt)],
    [receipt.made, moment(context, invoice.createdAt)],
    [receipt.seller, html`<bdi>${shopName(context, shown)}</bdi>`],
    [receipt.account, el.fullAddress(invoice.wallet)],
    merchant.contact === ""
      ? undefined
      : [receipt.contact, html`<bdi>${contactText(merchant.contact)}</bdi>`],
    invoice.note === "" ? undefined : [bill.note, html`<bdi class="lines">${invoice.note}</bdi>`],
    invoice.reference === null ? undefined : [bill.reference, html`<bdi>${invoice.reference}</bdi>`],
    [bill.number, html`<code class="long">${publicId("inv", invoice.id)}</code>`],
    [bill.network, `${network.chainName} (${ways.chainId(String(network.chainId))})`],
  ]);
}
