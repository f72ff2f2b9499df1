import { copyable } from "../../../../lib/web/elements/copyable.ts";
import { facts } from "../../../../lib/web/elements/table.ts";
import { type Html, html } from "../../../../lib/web/html.ts";
import type { Page } from "../../../explorer/page.ts";
import type { InvoiceRecord } from "../../invoices/invoice-record.ts";
import { message, pageHead } from "../elements.ts";
import type { MerchantRoute, SignedIn } from "../merchant-page.ts";
import { findShown } from "./invoice.ts";
import { inRupiah, missingInvoice, nameOfInvoice } from "./invoice-elements.ts";
import { type RefundOf, type Refunds, refundsOf } from "./refund-shares.ts";
import { networkData } from "./sign-in.ts";

const both = ["excess", "all"] as const satisfies readonly RefundOf[];

/** Giving back: a plain transfer by the merchant's own wallet to whoever paid. We never hold the money. */
export const refundInvoice: MerchantRoute = {
  method: "GET",
  path: "/merchant/invoices/:id/refund",
  async answer(context, { params: { id = "" }, query }) {
    const invoice = (await findShown(context, id))?.invoice;
    if (invoice === undefined) return missingInvoice(context);
    const { refund: texts } = context.words.invoices;
    const path = `merchant/invoices/${invoice.id}`;
    const offered = both.filter((of) => refundsOf(invoice, of) !== undefined);
    const of = offered.find((name) => name === query["of"]) ?? offered[0];
    const refunds = of === undefined ? undefined : refundsOf(invoice, of);
    if (of === undefined || refunds === undefined) {
      return message(context, { title: texts.nothing, help: texts.nothingHelp, status: 409, path });
    }
    const { shares } = refunds;
    const share = shares.find(({ payer }) => payer === query["to"]) ?? shares[0];
    if (share === undefined) {
      return message(context, { title: texts.unknown, help: texts.unknownHelp, status: 200, path });
    }
    return refundPage(context, { invoice, offered, of, refunds, share });
  },
};

type Chosen = {
  invoice: InvoiceRecord;
  offered: readonly RefundOf[];
  of: RefundOf;
  refunds: Refunds;
  share: Refunds["shares"][number];
};

function refundPage(context: SignedIn, chosen: Chosen): Page {
  const { words, el } = context;
  const { invoice, share } = chosen;
  const { refund: texts } = words.invoices;
  const title = texts.title(nameOfInvoice(invoice));
  const wei = String(share.amountWei);
  return {
    title,
    description: words.intro,
    main: html`${pageHead(context, { title, tab: "invoices" })}
<section class="card" id="refund"${payData(context, chosen)}>
${whichOf(context, chosen)}
<p>${texts.how} <strong>${texts.once}</strong></p>
${facts([
  [texts.to, el.fullAddress(share.payer)],
  [texts.amount, inRupiah(context, invoice, wei)],
  [texts.amountWei, copyable(wei, html`<code class="long">${wei}</code>`, texts.amountWei)],
])}
<p class="hint">${texts.exchange}</p>
<noscript><p class="note">${texts.withoutScripts}</p></noscript>
<p class="actions"><button type="button" id="pay" hidden>${texts.pay(el.tokens(wei))}</button>
<a class="button quiet" href="${el.to(`merchant/invoices/${invoice.id}`)}">${words.errors.back}</a></p>
<ul class="wallets" id="wallets"></ul>
<p class="outcome" id="outcome" role="status"></p>
<p id="refund-sent" hidden>${texts.sent} <code class="long"></code></p>
</section>
${othersCard(context, chosen)}`,
  };
}

/** What the script has the wallet send. */
function payData(context: SignedIn, { share }: Chosen): Html {
  const { session, el, settings } = context;
  const transaction = { to: share.payer, value: String(share.amountWei), data: "0x" };
  return html` data-wallet="${session.wallet}" data-amount="${el.tokens(String(share.amountWei))}" data-faucet="${settings.faucetUrl}" data-transaction="${JSON.stringify(transaction)}"${networkData(context)}`;
}

/** Where something came late and was too much, too, either can be given back. */
function whichOf({ words, el }: SignedIn, { invoice, offered, of }: Chosen): Html {
  if (offered.length < 2) return html``;
  const { refund: texts } = words.invoices;
  const links = offered.map((name) =>
    name === of
      ? html`<span aria-current="true"><strong>${texts[name]}</strong></span>`
      : html`<a href="${el.to(`merchant/invoices/${invoice.id}/refund?of=${name}`)}">${texts[name]}</a>`,
  );
  return html`<p class="tabs">${links}</p>`;
}

function othersCard(context: SignedIn, { invoice, of, refunds, share }: Chosen): Html {
  const { words, el } = context;
  const { refund: texts } = words.invoices;
  const others = refunds.shares.filter(({ payer }) => payer !== share.payer);
  const unknown =
    refunds.unknownWei === 0n
      ? html``
      : html`<p class="note">${texts.unknownPart(inRupiah(context, invoice, String(refunds.unknownWei)))}</p>`;
  if (others.length === 0)
    return unknown.text === "" ? html`` : html`<section class="card">${unknown}</section>`;
  const rows = others.map(
    ({ payer, amountWei }) =>
      html`<li><p>${el.addressLink(payer)}</p><p><a href="${el.to(`merchant/invoices/${invoice.id}/refund?of=${of}&to=${payer}`)}">${texts.pay(el.tokens(String(amountWei)))}</a></p></li>`,
  );
  return html`<section class="card"><h2>${texts.others}</h2><ul class="rows">${rows}</ul>${unknown}</section>`;
}
