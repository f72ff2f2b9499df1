import { copyable } from "../../../lib/web/elements/copyable.ts";
import { facts } from "../../../lib/web/elements/table.ts";
import { type Html, html } from "../../../lib/web/html.ts";
import type { InvoicePayment } from "../invoices/invoice.ts";
import { paymentsToldMax } from "../invoices/invoice-record.ts";
import type { CheckoutContext } from "./checkout-page.ts";
import type { CustomerInvoice } from "./customer-invoice.ts";
import { dueOf, overOf, rupiahOf } from "./rupiah-of.ts";

/** Merchants and their customers are in Jakarta, whatever the browser's clock is set to. */
const timeZone = "Asia/Jakarta";
const zoneName = "WIB";

/** `15 Januari 2027 pukul 15.00 WIB` */
export function momentText({ words }: Pick<CheckoutContext, "words">, at: Date): string {
  const format = formats.get(words.locale) ?? formatOf(words.locale);
  return `${format.format(at)} ${zoneName}`;
}

export function moment(context: Pick<CheckoutContext, "words">, at: Date): Html {
  return html`<time datetime="${at.toISOString()}">${momentText(context, at)}</time>`;
}

const formats = new Map<string, Intl.DateTimeFormat>();

/** Made once a language. */
function formatOf(locale: string): Intl.DateTimeFormat {
  const made = new Intl.DateTimeFormat(locale, { dateStyle: "long", timeStyle: "short", timeZone });
  formats.set(locale, made);
  return made;
}

/** A shop by the name that it has given itself, which anybody can: its account stands beside it wherever money is spoken of. */
export function shopName({ words }: CheckoutContext, { merchant }: CustomerInvoice): string {
  return merchant.displayName === "" ? words.shop.unnamed : merchant.displayName;
}

/** How an invoice stands, in a few words. */
export function stateText({ words, el }: CheckoutContext, { phase, invoice }: CustomerInvoice): string {
  const { states } = words;
  if (phase === "short" || phase === "shortOver") {
    const due = dueOf(invoice);
    return states[phase](rupiahOf(due, invoice, { round: "up" }) ?? el.tokens(String(due)));
  }
  if (phase === "overpaid") {
    const over = overOf(invoice);
    return states.overpaid(rupiahOf(over, invoice, { round: "down" }) ?? el.tokens(String(over)));
  }
  return states[phase];
}

/** Where a customer asks: an e-mail address or a telephone number can be pressed, anything else is text. */
export function contactText(contact: string): Html {
  if (/^[^\s@:?&/]+@[^\s@:?&/]+\.[^\s@:?&/]+$/.test(contact))
    return html`<a href="mailto:${contact}">${contact}</a>`;
  const digits = contact.replace(/[\s().-]/g, "");
  return /^\+?\d{7,15}$/.test(digits) ? html`<a href="tel:${digits}">${contact}</a>` : html`${contact}`;
}

/**
 * The way back to the shop, which names the host that it leads to (in ASCII, where a look-alike shows). Nobody is sent there unasked,
 * and it is not told where its visitor comes from: this page's address opens the page.
 */
export function backLink(
  { words }: CheckoutContext,
  { invoice }: CustomerInvoice,
  kind = "button quiet",
): Html {
  const url = invoice.redirectUrl === null ? null : URL.parse(invoice.redirectUrl);
  // It was looked at when the invoice was made; a row that came another way is no reason to run a script here.
  if (url === null || !/^https?:$/.test(url.protocol)) return html``;
  return html`<a class="${kind}" href="${url.href}" rel="noopener noreferrer nofollow" title="${words.shop.backHint}">${words.shop.back(url.host)}</a>`;
}

/** What has arrived, each payment by itself, oldest first. */
export function arrivedFacts(context: CheckoutContext, { invoice, payments }: CustomerInvoice): Html {
  const { words, el } = context;
  const { arrived } = words;
  const cards = payments.map((payment) => html`<li>${paymentFacts(context, { payment, invoice })}</li>`);
  const more =
    payments.length < paymentsToldMax
      ? html``
      : html`<p class="hint">${arrived.more(el.integer(paymentsToldMax))}</p>`;
  return html`<ol class="arrived">${cards}</ol>${more}`;
}

function paymentFacts(
  context: CheckoutContext,
  { payment, invoice }: { payment: InvoicePayment; invoice: CustomerInvoice["invoice"] },
): Html {
  const { words, el } = context;
  const { arrived } = words;
  const isLate = payment.at > invoice.expiresAt;
  const link = (path: string, text: string) =>
    copyable(text, html`<a href="${el.to(path)}"><code class="long">${text}</code></a>`);
  return facts([
    [arrived.amount, el.tokens(String(payment.amount))],
    [
      arrived.at,
      html`${moment(context, payment.at)}${isLate ? html` <strong>(${arrived.late})</strong>` : html``}`,
    ],
    [
      arrived.payer,
      payment.payer === null ? arrived.unknown : link(`address/${payment.payer}`, payment.payer),
    ],
    payment.txHash === null ? undefined : [arrived.transaction, link(`tx/${payment.txHash}`, payment.txHash)],
    [arrived.block, el.blockLink(payment.blockNumber)],
  ]);
}
