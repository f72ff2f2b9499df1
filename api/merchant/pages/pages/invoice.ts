import { renderSVG } from "uqr";
import { isRefusal } from "../../../../lib/http-service/refusal.ts";
import { network } from "../../../../lib/network.ts";
import { copyable } from "../../../../lib/web/elements/copyable.ts";
import { facts } from "../../../../lib/web/elements/table.ts";
import { type Html, html } from "../../../../lib/web/html.ts";
import { formatRupiah } from "../../invoices/format-rupiah.ts";
import type { InvoiceHistory } from "../../invoices/invoice-history.ts";
import type { InvoiceRecord } from "../../invoices/invoice-record.ts";
import { idOf } from "../../public-id.ts";
import { moment, notice, pageHead } from "../elements.ts";
import type { MerchantRoute, SignedIn } from "../merchant-page.ts";
import { inRupiah, invoiceStatus, missingInvoice, nameOfInvoice } from "./invoice-elements.ts";
import { timelineCard } from "./invoice-timeline.ts";
import { refundsOf } from "./refund-shares.ts";

type Shown = { invoice: InvoiceRecord; history: InvoiceHistory };

/** States in which a customer can still pay by the link. */
const payable: ReadonlySet<string> = new Set(["open", "underpaid"]);

/** An invoice and what happened to it. While it waits its script asks for this page again and puts in what has changed. */
export const invoice: MerchantRoute = {
  method: "GET",
  path: "/merchant/invoices/:id",
  async answer(context, { params: { id = "" }, query }) {
    const shown = await findShown(context, id);
    if (shown === undefined) return missingInvoice(context);
    const { words } = context;
    const { one } = words.invoices;
    const title = one.title(nameOfInvoice(shown.invoice));
    const done = { made: one.made, canceled: one.wasCanceled, collected: one.wasCollected };
    const said = Object.entries(done).find(([name]) => name === query["done"])?.[1];
    return {
      title,
      description: words.intro,
      main: html`${pageHead(context, { title, tab: "invoices" })}
${notice(said)}
<div class="cards" id="invoice" data-follow="${String(payable.has(shown.invoice.state))}">
<section class="card">
<div id="invoice-state" role="status">${stateOf(context, shown.invoice)}</div>
<div id="invoice-actions">${actionsOf(context, shown)}</div>
</section>
<section class="card" aria-labelledby="link"><h2 id="link">${one.link}</h2>
<div id="invoice-link">${customersLinks(context, shown.invoice)}</div></section>
<section class="card" aria-labelledby="facts"><h2 id="facts">${one.facts}</h2>
<div id="invoice-facts">${invoiceFacts(context, shown)}</div></section>
${timelineCard(context, shown)}
</div>`,
    };
  },
};

/** The wallet's own invoice with its history. */
export async function findShown({ invoices, session }: SignedIn, id: string): Promise<Shown | undefined> {
  const uuid = idOf("inv").safeParse(id);
  if (!uuid.success) return undefined;
  const shown = await invoices.readWithHistory(session.wallet, uuid.data);
  return isRefusal(shown) ? undefined : shown;
}

function stateOf(context: SignedIn, shown: InvoiceRecord): Html {
  const { says } = context.words.invoices.one;
  const line = (text: string, more = "") =>
    html`<p class="lead">${text}</p>${more === "" ? html`` : html`<p>${more}</p>`}`;
  const lines = {
    open: () => line(says.open(inRupiah(context, shown, shown.amountWei)), says.openHelp),
    underpaid: () => line(says.underpaid(inRupiah(context, shown, shown.dueWei)), says.underpaidHelp),
    paid: () => line(says.paid),
    overpaid: () => line(says.overpaid(inRupiah(context, shown, shown.overpaidWei)), says.overpaidHelp),
    paid_late: () => line(says.paid_late, says.paid_lateHelp),
    expired: () => html`<p class="lead">${says.expired}</p><p>${watchedHelp(context, shown)}</p>`,
    canceled: () => line(says.canceled, says.canceledHelp),
  };
  return html`<p class="sum">${formatRupiah(shown.amountIdr)}</p><p>${invoiceStatus(context, shown.state)}</p>
${lines[shown.state]()}`;
}

/** The end of the watch stands in the middle of a sentence. */
function watchedHelp(context: SignedIn, { watchUntil }: InvoiceRecord): Html {
  const [before = "", after = ""] = context.words.invoices.one.says.expiredHelp("\n").split("\n");
  return html`${before}${moment(context, watchUntil)}${after}`;
}

function actionsOf({ words, el }: SignedIn, { invoice: shown, history }: Shown): Html {
  const { one } = words.invoices;
  const path = `merchant/invoices/${shown.id}`;
  const cancel =
    shown.state === "open" && shown.receivedWei === "0"
      ? html`<a class="button quiet" href="${el.to(`${path}/cancel`)}">${one.cancel}</a>`
      : html``;
  const collect =
    BigInt(shown.receivedWei) > BigInt(history.passedOnWei)
      ? html`<form method="post" action="${el.to(`${path}/collect`)}" data-once><button type="submit" class="quiet">${one.collect}</button></form>`
      : html``;
  const refund =
    refundsOf(shown, "excess") === undefined && refundsOf(shown, "all") === undefined
      ? html``
      : html`<a class="button quiet" href="${el.to(`${path}/refund`)}">${one.refund}</a>`;
  return html`<div class="actions">${cancel}${collect}${refund}</div>`;
}

/** The link to pay with its code while it can be paid; then the receipt. */
function customersLinks({ words, el }: SignedIn, { state, payUrl, receiptUrl }: InvoiceRecord): Html {
  const { one } = words.invoices;
  const link = (url: string) => copyable(url, html`<a class="long" href="${url}">${url}</a>`, one.payUrl);
  const receipt = html`<p><a href="${receiptUrl}">${one.receiptUrl}</a></p>`;
  if (!payable.has(state)) return html`<p>${link(payUrl)}</p>${receipt}`;
  return html`<p>${link(payUrl)}</p>${qrCode(payUrl, one.qr)}${state === "underpaid" ? receipt : html``}
<p class="actions"><a class="button quiet" href="${el.to("merchant/invoices/new")}">${words.invoices.make}</a></p>`;
}

/** A text that a phone's camera reads. */
function qrCode(text: string, label: string): Html {
  // It is ours from end to end: of the text only squares are left in it.
  const svg = { text: renderSVG(text, { border: 2 }) };
  return html`<div class="qr" role="img" aria-label="${label}">${svg}</div>`;
}

function invoiceFacts(context: SignedIn, { invoice: shown, history }: Shown): Html {
  const { words, el } = context;
  const { one } = words.invoices;
  const amount = (wei: string) => inRupiah(context, shown, wei);
  const maybe = (name: string, value: string | null) =>
    value === null || value === "" ? undefined : ([name, value] as const);
  const isSome = (wei: string) => wei !== "0";
  const maker = history.madeBy;
  return facts([
    maybe(one.customer, shown.customerLabel),
    maybe(one.reference, shown.reference),
    shown.note === "" ? undefined : [one.note, html`<span class="lines">${shown.note}</span>`],
    [one.price, el.tokens(shown.amountWei)],
    [one.rate, one.rateOf(rupiahRate(shown.rate.idrPerToken), network.nativeCurrency.symbol)],
    [one.received, amount(shown.receivedWei)],
    isSome(shown.dueWei) && isSome(shown.receivedWei) ? [one.due, amount(shown.dueWei)] : undefined,
    isSome(shown.overpaidWei) ? [one.excess, amount(shown.overpaidWei)] : undefined,
    isSome(shown.receivedWei) ? [one.passedOn, amount(history.passedOnWei)] : undefined,
    [one.box, el.bytes(shown.depositAddress)],
    [one.created, moment(context, shown.createdAt)],
    [one.expires, moment(context, shown.expiresAt)],
    [one.watched, moment(context, shown.watchUntil)],
    [one.madeBy, maker === null ? one.madeByPages : maker.label === "" ? maker.hint : maker.label],
    maybe(one.redirect, shown.redirectUrl),
    [one.number, html`<code class="long">${shown.id}</code>`],
  ]);
}

/** `Rp 15.000,5`: a rate may have decimals. */
function rupiahRate(idrPerToken: string): string {
  const [whole = "0", decimals] = idrPerToken.split(".");
  return decimals === undefined ? formatRupiah(Number(whole)) : `${formatRupiah(Number(whole))},${decimals}`;
}
