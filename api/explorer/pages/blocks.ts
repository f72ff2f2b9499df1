import { z } from "zod";
import { isRefusal } from "../../../lib/http-service/refusal.ts";
import { html } from "../../../lib/web/html.ts";
import { listBlocks } from "../../read/block-lists.ts";
import { pageQuery } from "../../rest/parameters.ts";
import { pager } from "../elements/pager.ts";
import { blockTable, indexNote } from "../lists.ts";
import { pageRoute } from "../page-route.ts";

export const blocks = pageRoute({
  path: "/blocks",
  entry: "blocks",
  params: z.object({}),
  query: pageQuery.strip(),
  async render(context, { query }) {
    const { texts, read } = context;
    const page = await listBlocks(read.db, query);
    if (isRefusal(page)) return page;
    const isFirst = query.cursor === undefined;
    return {
      title: texts.blocks.title,
      description: texts.blocks.caption,
      ...(isFirst ? { live: "count" as const } : {}),
      main: html`<h1>${texts.blocks.title}</h1>
${await indexNote(context, page.indexedBlock)}
<section class="card">
${blockTable(context, page.data)}
${pager(context, { path: "blocks", limit: query.limit, isFirst, nextCursor: page.nextCursor })}
</section>`,
    };
  },
});
