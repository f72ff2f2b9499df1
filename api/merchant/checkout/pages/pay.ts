import { payCall } from "../../../../lib/fee-collector/fee-calls.ts";
import { network } from "../../../../lib/network.ts";
import { facts } from "../../../../lib/web/elements/table.ts";
import { type Html, html } from "../../../../lib/web/html.ts";
import { formatRupiah } from "../../invoices/format-rupiah.ts";
import { publicId } from "../../public-id.ts";
import type { SentPayment } from "../../sent-payment.ts";
import type { CheckoutContext, CheckoutPage } from "../checkout-page.ts";
import type { CustomerInvoice } from "../customer-invoice.ts";
import { arrivedFacts, backLink, contactText, momentText, shopName } from "../elements.ts";
import { isFinal, versionOf } from "../payment-streams.ts";
import { dueOf, rupiahOf } from "../rupiah-of.ts";
import { stateCard } from "./state.ts";
import { ways } from "./ways.ts";

/** A payment link's page. The script asks for this page again and again, and puts parts of it in. */
export function payPage(
  context: CheckoutContext,
  { shown, sent }: { shown: CustomerInvoice; sent: SentPayment },
): CheckoutPage {
  const { words } = context;
  const amount = formatRupiah(shown.invoice.amountIdr);
  return {
    title: amount,
    description: `${words.shop.paidTo}: ${shopName(context, shown)} · ${amount}`,
    invoice: shown,
    main: html`<div id="checkout" class="checkout"${payData(context, { shown, sent })}>
<section class="card bill" aria-labelledby="amount">
${stateCard(context, { shown, sent })}
<div id="amounts">${amounts(context, shown)}</div>
<div id="deadline">${deadline(context, shown)}</div>
<div id="actions">${actions(context, { shown, sent })}</div>
<ul class="wallets" id="wallets"></ul>
<p class="outcome" id="outcome" role="status"></p>
</section>
<div class="ways" id="ways">${canPay({ shown, sent }) ? ways(context, shown) : html``}</div>
${details(context, shown)}
</div>`,
  };
}

/** Whether the ways to pay are offered: not where a payment is under way, which would be paid twice. */
export function canPay({ shown, sent }: { shown: CustomerInvoice; sent: SentPayment }): boolean {
  const isDue = shown.phase === "waiting" || shown.phase === "short";
  return isDue && shown.isFollowed && (sent.state === "none" || sent.state === "reverted");
}

/**
 * What the script pays with, and by what it sees that something has changed. With nothing in the box it is the FeeCollector's pay(),
 * which takes one payment, exact and in time; it refuses where something lies there, so the rest is a plain transfer to the box.
 */
function payData(
  { el, settings, network: ofWallet }: CheckoutContext,
  { shown, sent }: { shown: CustomerInvoice; sent: SentPayment },
): Html {
  const { invoice, order, phase, nowMs } = shown;
  const due = dueOf(invoice);
  const value = `0x${due.toString(16)}`;
  const transaction =
    order === undefined || !canPay({ shown, sent })
      ? null
      : phase === "waiting"
        ? { to: order.feeCollector, value, data: payCall(order) }
        : { to: invoice.box, value, data: "0x" };
  const listens = order !== undefined && !isFinal(invoice);
  const data: Readonly<Record<string, string>> = {
    phase,
    payment: sent.state,
    version: versionOf(invoice),
    events: listens ? el.to(`pay/${invoice.payToken}/events`) : "",
    now: String(nowMs),
    ends: phase === "waiting" || phase === "short" ? String(invoice.expiresAt.getTime()) : "",
    transaction: transaction === null ? "" : JSON.stringify(transaction),
    amount: el.tokens(String(due)),
    faucet: settings.faucetUrl,
    network: JSON.stringify(ofWallet),
  };
  return html`${Object.entries(data).map(([name, text]) => html` data-${name}="${text}"`)}`;
}

/** What is to be paid now, large; where a part has arrived, the rest. */
function amounts({ words, el }: CheckoutContext, { invoice, phase }: CustomerInvoice): Html {
  const { bill } = words;
  const { symbol } = network.nativeCurrency;
  const rate = bill.rate(symbol, rupiahText(invoice.rate.idrPerToken));
  const whole = formatRupiah(invoice.amountIdr);
  if (phase === "short" || phase === "shortOver") {
    const due = dueOf(invoice);
    const tokens = el.tokens(String(due));
    const received = el.tokens(String(invoice.received));
    return html`<h1 id="amount"><span class="label">${bill.due}</span> ${rupiahOf(due, invoice, { round: "up" }) ?? tokens}</h1>
<p class="tokens">${tokens} <span class="soft">${bill.of(`${whole} (${el.tokens(String(invoice.amount))})`, received)}</span></p>
<p class="soft">${rate}</p>`;
  }
  const label = phase === "paid" || phase === "overpaid" || phase === "late" ? bill.paid : bill.amount;
  return html`<h1 id="amount"><span class="label">${label}</span> ${whole}</h1>
<p class="tokens">${el.tokens(String(invoice.amount))} <span class="soft">${rate}</span></p>`;
}

/** A rate has decimals where it is of a cheap token. */
export function rupiahText(decimal: string): string {
  const [whole = "0", decimals] = decimal.split(".");
  const rupiah = formatRupiah(Number(whole));
  return decimals === undefined ? rupiah : `${rupiah},${decimals}`;
}

function deadline(context: CheckoutContext, { phase, invoice }: CustomerInvoice): Html {
  const { bill } = context.words;
  if (phase !== "waiting" && phase !== "short") return html``;
  return html`<p class="deadline">${bill.until(momentText(context, invoice.expiresAt))} <span id="left-line" hidden>${bill.left}: <strong id="left" role="timer" aria-live="off"></strong></span></p>`;
}

function actions(
  context: CheckoutContext,
  { shown, sent }: { shown: CustomerInvoice; sent: SentPayment },
): Html {
  const { words, el } = context;
  const { invoice } = shown;
  const path = `pay/${invoice.payToken}`;
  const isDone = isFinal(invoice);
  const look = html`<noscript><p class="note">${words.wallet.needsScripts}</p><p class="actions"><a class="button" href="${el.to(path)}">${words.wallet.look}</a></p></noscript>`;
  if (canPay({ shown, sent })) {
    const button = words.wallet.pay(el.tokens(String(dueOf(invoice))));
    return html`<p class="actions"><button type="button" id="pay" hidden>${button}</button></p>${look}`;
  }
  if (isDone) {
    return html`<p class="actions">${backLink(context, shown, "button")}<a class="button quiet" href="${el.to(`${path}/receipt`)}">${words.receipt.link}</a></p>`;
  }
  const notSent =
    sent.state === "unknown"
      ? html`<p class="note"><a href="${el.to(path)}">${words.sent.notSent}</a></p>`
      : html``;
  return html`${notSent}${look}`;
}

/** Who is paid, what for, and what has arrived. */
function details(context: CheckoutContext, shown: CustomerInvoice): Html {
  const { words, el } = context;
  const { invoice, merchant, payments } = shown;
  const { shop, bill, arrived } = words;
  const list =
    payments.length === 0 ? html`` : html`<h2>${arrived.title}</h2>${arrivedFacts(context, shown)}`;
  const back = isFinal(invoice) ? html`` : html`<p class="actions">${backLink(context, shown)}</p>`;
  return html`<section class="card details" aria-labelledby="shop">
<h2 id="shop">${shop.title}</h2>
${facts([
  [words.receipt.seller, html`<bdi>${shopName(context, shown)}</bdi>`],
  [shop.account, el.fullAddress(invoice.wallet)],
  [
    shop.contact,
    merchant.contact === "" ? shop.noContact : html`<bdi>${contactText(merchant.contact)}</bdi>`,
  ],
  invoice.note === "" ? undefined : [bill.note, html`<bdi class="lines">${invoice.note}</bdi>`],
  invoice.reference === null ? undefined : [bill.reference, html`<bdi>${invoice.reference}</bdi>`],
  [bill.number, html`<code class="long">${publicId("inv", invoice.id)}</code>`],
])}
<div id="arrived">${list}</div>
<div id="back">${back}</div>
</section>`;
}
