import { z } from "zod";
import { isRefusal } from "../../../../lib/http-service/refusal.ts";
import { type Html, html } from "../../../../lib/web/html.ts";
import { pager } from "../../../explorer/elements/pager.ts";
import { cursor, limit } from "../../../rest/parameters.ts";
import { csvRowsMax } from "../../invoices/invoice-csv.ts";
import { day } from "../../invoices/invoice-operations.ts";
import { invoiceState } from "../../invoices/invoice-record.ts";
import { readInvoiceSearch } from "../../invoices/invoice-search.ts";
import type { InvoicePage } from "../../invoices/invoices.ts";
import { pageHead } from "../elements.ts";
import type { MerchantRoute, SignedIn } from "../merchant-page.ts";
import { invoiceRows } from "./invoice-elements.ts";

/** A form sends what was left empty, and a link can hold anything: what cannot be is left out. */
const lenient = <Schema extends z.ZodType>(schema: Schema) => schema.optional().catch(undefined);

const query = z.object({
  state: lenient(invoiceState),
  from: lenient(day),
  to: lenient(day),
  q: z.string().catch(""),
  cursor: lenient(cursor),
  limit: limit.catch(20),
});

type Asked = z.output<typeof query>;

/** A wallet's invoices, newest first. */
export const invoiceList: MerchantRoute = {
  method: "GET",
  path: "/merchant/invoices",
  async answer(context, { query: given }) {
    const { words, invoices, session, el } = context;
    const { invoices: texts } = words;
    const asked = query.parse(given);
    const page = await pageOf(asked, (wanted) => invoices.list(session.wallet, wanted));
    return {
      title: texts.title,
      description: words.intro,
      main: html`${pageHead(context, { title: texts.title, tab: "invoices" })}
<section class="card">
<p class="actions first"><a class="button" href="${el.to("merchant/invoices/new")}">${texts.make}</a></p>
${filterForm(context, asked)}
${listOf(context, { asked, page })}
</section>`,
    };
  },
};

/** The same invoices as a file, by the same bounds as programs get it. */
export const invoicesCsv: MerchantRoute = {
  method: "GET",
  path: "/merchant/invoices.csv",
  cost: 10,
  async answer({ invoices, session }, { query: given }) {
    const isForExcel = given["for"] === "excel";
    const file = await invoices.csv(session.wallet, {
      filter: filterOf(query.parse(given)),
      separator: isForExcel ? ";" : ",",
    });
    if (isRefusal(file)) return { redirect: "merchant/invoices" };
    // Without a byte order mark Excel reads UTF-8 as what Windows once wrote.
    const text = isForExcel ? `\ufeff${file.text}` : file.text;
    return { file: { text, type: "text/csv; charset=utf-8", name: "invoices.csv" } };
  },
};

function filterOf({ state, from, to, q }: Asked) {
  return { state, from, to, search: readInvoiceSearch(q) };
}

/** A cursor of another list leads to the first page. */
async function pageOf(
  asked: Asked,
  list: (wanted: {
    filter: ReturnType<typeof filterOf>;
    limit: number;
    cursor: string | undefined;
  }) => Promise<InvoicePage | object>,
): Promise<InvoicePage> {
  const wanted = { filter: filterOf(asked), limit: asked.limit };
  const page = await list({ ...wanted, cursor: asked.cursor });
  if ("data" in page) return page;
  const first = await list({ ...wanted, cursor: undefined });
  return "data" in first ? first : { data: [], nextCursor: null };
}

/** What the list was asked with, for links that keep it. */
function queryOf({ state, from, to, q }: Asked): Record<string, string | undefined> {
  return { state, from, to, q: q === "" ? undefined : q };
}

function filterForm({ words: { invoices: texts }, el }: SignedIn, asked: Asked): Html {
  const { list } = texts;
  const states = invoiceState.options.map((state) => {
    const selected = state === asked.state ? html` selected` : html``;
    return html`<option value="${state}"${selected}>${texts.states[state]}</option>`;
  });
  return html`<form class="filter" role="search" aria-label="${texts.title}" action="${el.to("merchant/invoices")}">
<label class="wide">${list.search}<input type="search" name="q" value="${asked.q}" maxlength="200" autocomplete="off" aria-describedby="search-hint"></label>
<label>${list.state}<select name="state"><option value="">${list.anyState}</option>${states}</select></label>
<label>${list.from}<input type="date" name="from" value="${asked.from ?? ""}"></label>
<label>${list.to}<input type="date" name="to" value="${asked.to ?? ""}"></label>
<button type="submit" class="quiet">${list.apply}</button>
</form>
<p class="hint" id="search-hint">${list.searchHint}</p>`;
}

function listOf(context: SignedIn, { asked, page }: { asked: Asked; page: InvoicePage }): Html {
  const { words, el } = context;
  const { list } = words.invoices;
  const given = queryOf(asked);
  const isFiltered = Object.values(given).some((value) => value !== undefined);
  if (page.data.length === 0 && isFiltered) {
    return html`<p class="note">${list.noneFound} <a href="${el.to("merchant/invoices")}">${list.all}</a></p>`;
  }
  if (page.data.length === 0) return html`<p class="lead">${list.none}</p><p>${list.noneHelp}</p>`;
  const csv = (more: Readonly<Record<string, string>>) => {
    const all = Object.entries({ ...given, ...more });
    const entries = all.flatMap(([name, value]) => (value === undefined ? [] : [[name, value] as const]));
    const text = new URLSearchParams(Object.fromEntries(entries)).toString();
    return el.to(`merchant/invoices.csv${text === "" ? "" : `?${text}`}`);
  };
  return html`${invoiceRows(context, { caption: list.caption, invoices: page.data })}
${pager(context, {
  path: "merchant/invoices",
  query: given,
  limit: asked.limit,
  isFirst: asked.cursor === undefined,
  nextCursor: page.nextCursor,
})}
<p class="hint"><a href="${csv({})}">${list.csv}</a> · <a href="${csv({ for: "excel" })}">${list.csvExcel}</a> · ${list.csvHint(el.integer(csvRowsMax))}</p>`;
}
