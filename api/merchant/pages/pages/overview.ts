import { table } from "../../../../lib/web/elements/table.ts";
import { type Html, html } from "../../../../lib/web/html.ts";
import { bars } from "../../../explorer/elements/bars.ts";
import type { DashboardRecord } from "../../dashboard/dashboard-record.ts";
import { formatRupiah } from "../../invoices/format-rupiah.ts";
import { pageHead } from "../elements.ts";
import type { MerchantRoute, SignedIn } from "../merchant-page.ts";
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

/** For who has no key yet. */
function beginning({ words, el }: SignedIn, { keys }: DashboardRecord): Html {
  if (keys.active > 0) return html``;
  const { overview: texts } = words;
  return html`<section class="card"><h2>${texts.begin}</h2><p>${texts.beginKeys}</p>
<p class="actions"><a class="button quiet" href="${el.to("merchant/buy")}">${words.keys.buy}</a></p></section>`;
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
