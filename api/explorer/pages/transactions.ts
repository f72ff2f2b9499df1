import { z } from "zod";
import { isRefusal } from "../../../lib/http-service/refusal.ts";
import { html } from "../../../lib/web/html.ts";
import { listTransactions } from "../../read/transaction-lists.ts";
import { pageQuery } from "../../rest/parameters.ts";
import { pager } from "../elements/pager.ts";
import { empty, indexNote, transactionTable } from "../lists.ts";
import { pageRoute } from "../page-route.ts";

export const transactions = pageRoute({
  path: "/txs",
  entry: "transactions",
  params: z.object({}),
  query: pageQuery.strip(),
  async render(context, { query }) {
    const { texts, read } = context;
    const page = await listTransactions(read.db, query);
    if (isRefusal(page)) return page;
    const isFirst = query.cursor === undefined;
    return {
      title: texts.transactions.title,
      description: texts.transactions.caption,
      ...(isFirst ? { live: "count" as const } : {}),
      main: html`<h1>${texts.transactions.title}</h1>
${await indexNote(context, page.indexedBlock)}
<section class="card">
${page.data.length === 0 ? empty(texts.list.empty) : transactionTable(context, page.data)}
${pager(context, { path: "txs", limit: query.limit, isFirst, nextCursor: page.nextCursor })}
</section>`,
    };
  },
});
