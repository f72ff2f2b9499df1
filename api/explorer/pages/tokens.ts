import { z } from "zod";
import { isRefusal } from "../../../lib/http-service/refusal.ts";
import { type Column, facts, table } from "../../../lib/web/elements/table.ts";
import { type Html, html } from "../../../lib/web/html.ts";
import { listMovedTokens, listTokens, readToken, type TokenRow } from "../../read/token-lists.ts";
import { listTokenTransfers } from "../../read/transfer-lists.ts";
import { accountAddress, limit, pageQuery } from "../../rest/parameters.ts";
import { pager } from "../elements/pager.ts";
import { missingPage } from "../error-pages.ts";
import { empty, indexNote, transferTable } from "../lists.ts";
import type { PageContext } from "../page.ts";
import { pageRoute } from "../page-route.ts";

const movedShown = 10;

export const tokens = pageRoute({
  path: "/tokens",
  entry: "tokens",
  params: z.object({}),
  query: z.object({ limit, after: accountAddress.optional() }),
  async render(context, { query }) {
    const { texts, el, read } = context;
    const [moved, { data, next }] = await Promise.all([
      query.after === undefined ? listMovedTokens(read.db, { limit: movedShown }) : [],
      listTokens(read.db, query),
    ]);
    const lately =
      moved.length === 0
        ? html``
        : html`<section class="card"><h2>${texts.tokens.moved}</h2>
${table({
  caption: texts.tokens.moved,
  rows: moved,
  columns: [
    ...tokenColumns(context),
    { title: texts.tokens.lastBlock, number: true, cell: ({ lastBlock }) => el.blockLink(lastBlock) },
  ],
})}</section>`;
    const more =
      next === null
        ? html``
        : html`<p class="more">${el.link(`tokens?after=${next}&limit=${query.limit}`, html`${texts.list.more} →`)}</p>`;
    return {
      title: texts.tokens.title,
      description: texts.tokens.intro,
      main: html`<div class="intro"><h1>${texts.tokens.title}</h1><p>${texts.tokens.intro}</p></div>
${lately}
<section class="card"><h2>${texts.tokens.all}</h2>
${data.length === 0 ? empty(texts.tokens.none) : table({ caption: texts.tokens.caption, rows: data, columns: tokenColumns(context) })}
${more}
</section>`,
    };
  },
});

export const token = pageRoute({
  path: "/token/:address",
  entry: "tokens",
  params: z.object({ address: accountAddress }),
  query: pageQuery.strip(),
  async render(context, { params: { address }, query }) {
    const { texts, el, read } = context;
    const known = await readToken(read.db, address);
    if (known === undefined) return missingPage(context);
    const page = await listTokenTransfers(read.db, address, query);
    if (isRefusal(page)) return page;
    const name = known.name ?? texts.transfers.unnamed;
    return {
      title: texts.tokens.ofToken(name),
      description: `${texts.tokens.kinds[known.kind]}: ${name}${known.symbol === null ? "" : ` (${known.symbol})`}`,
      main: html`<h1>${name}${known.symbol === null ? html`` : html` <span class="soft">${known.symbol}</span>`}</h1>
<section class="card">
${facts([
  [texts.tokens.address, el.fullAddress(address)],
  [texts.tokens.kind, texts.tokens.kinds[known.kind]],
  known.decimals === null ? undefined : [texts.tokens.decimals, String(known.decimals)],
])}
</section>
${await indexNote(context, page.indexedBlock)}
<section class="card"><h2>${texts.tokens.transfers}</h2>
${page.data.length === 0 ? empty(texts.list.empty) : transferTable(context, page.data)}
${pager(context, { path: `token/${address}`, limit: query.limit, isFirst: query.cursor === undefined, nextCursor: page.nextCursor })}
</section>`,
    };
  },
});

function tokenColumns({ texts, el }: PageContext): Column<TokenRow>[] {
  const named = ({ address, name }: TokenRow): Html =>
    el.link(`token/${address}`, name ?? texts.transfers.unnamed);
  return [
    { title: texts.tokens.name, cell: named },
    { title: texts.tokens.symbol, cell: ({ symbol }) => symbol ?? "–" },
    { title: texts.tokens.kind, cell: ({ kind }) => texts.tokens.kinds[kind] },
    { title: texts.tokens.address, cell: ({ address }) => el.addressLink(address) },
  ];
}
