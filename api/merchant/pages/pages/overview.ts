import { table } from "../../../../lib/web/elements/table.ts";
import { type Html, html } from "../../../../lib/web/html.ts";
import { bars } from "../../../explorer/elements/bars.ts";
import type { DashboardRecord } from "../../dashboard/dashboard-record.ts";
import type { Attention } from "../../dashboard/read-attention.ts";
import { formatRupiah } from "../../invoices/format-rupiah.ts";
import { pageHead } from "../elements.ts";
import type { MerchantRoute, SignedIn } from "../merchant-page.ts";
import { invoiceRows } from "./invoice-elements.ts";
import { todoCard } from "./todo-card.ts";

/** What a shop needs at the end of a day. */
export const overview: MerchantRoute = {
  method: "GET",
  path: "/merchant",
  async answer(context) {
    const { words, sales, dashboard, session } = context;
    const [numbers, attention, waiting] = await Promise.all([
      dashboard.read(session.wallet),
      dashboard.attention(session.wallet),
      sales.waitingOrdersOf(session.wallet),
    ]);
    const paid = waiting.filter(({ status }) => status === "paid");
    return {
      title: words.overview.title,
      description: words.intro,
      main: html`${pageHead(context, { title: words.overview.title, tab: "overview" })}
${numbersOf(context, { numbers, attention })}
${todoCard(context, { numbers, attention, paid })}
${beginning(context, numbers)}
${latest(context, numbers)}
${chart(context, numbers)}`,
    };
  },
};

/** Received today and in 30 days, and what is still to come. */
function numbersOf(
  context: SignedIn,
  { numbers: { received, series }, attention: { open } }: { numbers: DashboardRecord; attention: Attention },
): Html {
  const { words, el } = context;
  const { overview: texts } = words;
  const today = series.at(-1)?.paid ?? 0;
  const lately = series.reduce((sum, { paid }) => sum + paid, 0);
  return html`<section class="tiles numbers" aria-label="${texts.title}">
${tile({ name: texts.today, amountIdr: received.todayIdr, more: texts.invoicesPaid(today, el.integer(today)) })}
${tile({ name: texts.open, amountIdr: open.amountIdr, more: texts.openMore(open.count, el.integer(open.count)) })}
${tile({ name: texts.last30Days, amountIdr: received.last30DaysIdr, more: texts.invoicesPaid(lately, el.integer(lately)) })}
</section>`;
}

function tile({ name, amountIdr, more }: { name: string; amountIdr: number; more: string }): Html {
  return html`<div class="tile"><p class="tile-name">${name}</p><p class="tile-value">${formatRupiah(amountIdr)}</p><p class="tile-more">${more}</p></div>`;
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
