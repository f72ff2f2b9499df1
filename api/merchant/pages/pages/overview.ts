import { table } from "../../../../lib/web/elements/table.ts";
import { type Html, html } from "../../../../lib/web/html.ts";
import { bars } from "../../../explorer/elements/bars.ts";
import type { DashboardRecord } from "../../dashboard/dashboard-record.ts";
import { formatRupiah } from "../../invoices/format-rupiah.ts";
import { pageHead } from "../elements.ts";
import type { MerchantRoute, SignedIn } from "../merchant-page.ts";
import { invoiceRows } from "./invoice-elements.ts";
import { waitingCards } from "./keys.ts";

/** What a shop needs at the end of a day. */
export const overview: MerchantRoute = {
  method: "GET",
  path: "/merchant",
  async answer(context) {
    const { words, sales, dashboard, session } = context;
    const [numbers, waiting] = await Promise.all([
      dashboard.read(session.wallet),
      sales.waitingOrdersOf(session.wallet),
    ]);
    const paid = waiting.filter(({ status }) => status === "paid");
    return {
      title: words.overview.title,
      description: words.intro,
      main: html`${pageHead(context, { title: words.overview.title, tab: "overview" })}
${waitingCards(context, paid)}
${numbersOf(context, numbers)}
${beginning(context, numbers)}
${latest(context, numbers)}
${chart(context, numbers)}`,
    };
  },
};

/** Received today and in 30 days. */
function numbersOf(context: SignedIn, { received, series }: DashboardRecord): Html {
  const { overview: texts } = context.words;
  const today = series.at(-1)?.paid ?? 0;
  const lately = series.reduce((sum, { paid }) => sum + paid, 0);
  return html`<section class="tiles numbers" aria-label="${texts.title}">
${tile(context, { name: texts.today, amountIdr: received.todayIdr, paid: today })}
${tile(context, { name: texts.last30Days, amountIdr: received.last30DaysIdr, paid: lately })}
</section>`;
}

function tile(
  { words: { overview: texts }, el }: SignedIn,
  { name, amountIdr, paid }: { name: string; amountIdr: number; paid: number },
): Html {
  return html`<div class="tile"><p class="tile-name">${name}</p><p class="tile-value">${formatRupiah(amountIdr)}</p><p class="tile-more">${texts.invoicesPaid(paid, el.integer(paid))}</p></div>`;
}

/** For who has made no invoice, or has no key, yet. */
function beginning({ words, el }: SignedIn, { keys, latest: newest }: DashboardRecord): Html {
  const { overview: texts, invoices } = words;
  const link = (path: string, text: string) =>
    html`<p class="actions"><a class="button quiet" href="${el.to(path)}">${text}</a></p>`;
  const steps = [
    ...(newest.length > 0
      ? []
      : [html`<li><p>${invoices.list.noneHelp}</p>${link("merchant/invoices/new", invoices.make)}</li>`]),
    ...(keys.active > 0
      ? []
      : [html`<li><p>${texts.beginKeys}</p>${link("merchant/buy", words.keys.buy)}</li>`]),
  ];
  if (steps.length === 0) return html``;
  return html`<section class="card"><h2>${texts.begin}</h2><ul class="todo">${steps}</ul></section>`;
}

/** The newest invoices, and the way to a new one. */
function latest(context: SignedIn, { latest: newest }: DashboardRecord): Html {
  if (newest.length === 0) return html``;
  const { words, el } = context;
  const { overview: texts, invoices } = words;
  return html`<section class="card"><div class="below"><h2>${texts.latest}</h2>
<p class="actions"><a class="button" href="${el.to("merchant/invoices/new")}">${invoices.make}</a></p></div>
${invoiceRows(context, { caption: texts.latest, invoices: newest })}
<p><a href="${el.to("merchant/invoices")}">${texts.allInvoices}</a></p></section>`;
}

/** The last 30 days as bars, and as a table for who does not see them. */
function chart({ words: { overview: texts }, el }: SignedIn, { series }: DashboardRecord): Html {
  const data = series.map(({ date, amountIdr, paid }) => ({
    value: amountIdr,
    title: `${date}: ${formatRupiah(amountIdr)}, ${texts.invoicesPaid(paid, el.integer(paid))}`,
  }));
  return html`<section class="card" aria-labelledby="days">
<h2 id="days">${texts.chart}</h2>
${bars({ label: texts.chart, data, barsMin: data.length })}
<details><summary>${texts.chartTable}</summary>
${table({
  caption: texts.chart,
  columns: [
    { title: texts.day, cell: ({ date }) => date },
    { title: texts.paid, cell: ({ paid }) => el.integer(paid), number: true },
    { title: texts.received, cell: ({ amountIdr }) => formatRupiah(amountIdr), number: true },
  ],
  rows: series.toReversed(),
})}
</details>
<p class="hint">${texts.jakarta}</p>
</section>`;
}
