import { z } from "zod";
import { type Html, html } from "../../../lib/web/html.ts";
import { search as find } from "../../read/search.ts";
import type { SearchRecord } from "../../records/chain.ts";
import type { PageContext } from "../page.ts";
import { pageRoute } from "../page-route.ts";

const textMax = 100;

export const search = pageRoute({
  path: "/search",
  params: z.object({}),
  query: z.object({
    q: z
      .string()
      .optional()
      .transform((text) => (text ?? "").trim().slice(0, textMax)),
  }),
  async render(context, { query: { q } }) {
    const { texts, read } = context;
    const { data } = q === "" ? { data: [] } : await find(read, q);
    const [only] = data;
    if (only !== undefined && data.length === 1) return { redirect: pathOf(only) };
    const { title, resultsFor, nothing, forms, pending } = texts.search;
    const list =
      data.length === 0
        ? html`${q === "" ? html`` : html`<p>${nothing(q)}</p>`}<p>${forms}</p><p>${pending}</p>`
        : html`<ul class="results">${data.map((found) => result(context, found))}</ul>`;
    return {
      title: q === "" ? title : resultsFor(q),
      description: forms,
      status: q !== "" && data.length === 0 ? 404 : 200,
      searched: q,
      main: html`<h1>${q === "" ? title : resultsFor(q)}</h1><section class="card">${list}</section>`,
    };
  },
});

type Found = SearchRecord["data"][number];

const folders = {
  block: "block",
  transaction: "tx",
  account: "address",
  contract: "address",
  validator: "validator",
} as const;

function pathOf({ kind, id }: Found): string {
  return `${folders[kind]}/${id}`;
}

function result({ texts, el }: PageContext, found: Found): Html {
  return html`<li>${el.link(pathOf(found), found.title)} <span class="soft">${texts.search.kinds[found.kind]} <span class="mono">${found.id}</span></span></li>`;
}
