import { z } from "zod";
import { facts, table } from "../../../lib/web/elements/table.ts";
import { type Html, html } from "../../../lib/web/html.ts";
import type { OperationDescription } from "../../rest/operation.ts";
import type { RouteDescription } from "../../rest/route.ts";
import type { PageContext } from "../page.ts";
import { pageRoute } from "../page-route.ts";

/** Routes are read with GET; operations name their method. */
export type Documented =
  | (Pick<RouteDescription, "path" | "tag" | "summary" | "query"> & { method?: undefined })
  | Pick<OperationDescription, "method" | "path" | "tag" | "summary" | "query">;

/** The reference, from the table of routes that serves them. */
export function docsPage(routes: readonly Documented[]) {
  return pageRoute({
    path: "/docs",
    entry: "docs",
    params: z.object({}),
    query: z.object({}),
    render(context) {
      const { texts, el, settings } = context;
      const { docs } = texts;
      const playground = settings.hasPlayground ? html` ${el.link("graphql", docs.playground)}` : html``;
      const tags = [...new Set(routes.map(({ tag }) => tag))];
      return {
        title: docs.title,
        description: docs.intro,
        lasting: true,
        main: html`<div class="intro"><h1>${docs.title}</h1><p>${docs.intro}</p></div>
<section class="card">
<p class="actions"><a class="button" href="${el.to("docs/try")}">${docs.try}</a></p>
${facts([
  [docs.openapi, el.link("api/v1/openapi.json", "/api/v1/openapi.json")],
  [docs.graphql, html`${docs.graphqlHelp} ${el.link("api/v1/graphql-schema", docs.schema)}${playground}`],
  [docs.live, docs.liveHelp],
])}
<p>${docs.limits(el.integer(settings.limit.points), settings.limit.windowSeconds)} ${docs.errors}</p>
</section>
${tags.map((tag) =>
  tagCard(
    context,
    tag,
    routes.filter((route) => route.tag === tag),
  ),
)}`,
      };
    },
  });
}

function tagCard({ texts }: PageContext, tag: string, routes: readonly Documented[]): Html {
  const { docs } = texts;
  return html`<section class="card" id="${tag.toLowerCase().replaceAll(" ", "-")}"><h2>${tag}</h2>
${table<Documented>({
  caption: docs.caption(tag),
  rows: routes,
  columns: [
    { title: docs.path, cell: ({ method = "GET", path }) => html`<code>${method} ${path}</code>` },
    { title: docs.answers, cell: ({ summary }) => html`<span lang="en">${summary}</span>` },
    {
      title: docs.parameters,
      cell: ({ query }) => {
        const names = Object.keys(query.shape);
        return names.length === 0 ? "–" : html`<code class="long">${names.join(", ")}</code>`;
      },
    },
  ],
})}
</section>`;
}
