import { html } from "../../lib/web/html.ts";
import type { Page, PageContext } from "./page.ts";

/** A page that says what is the matter and where to go on. */
export function errorPage(
  { texts, el }: PageContext,
  {
    title,
    help,
    status,
    retrySeconds,
    wayOn,
  }: {
    title: string;
    help: string;
    status: number;
    retrySeconds?: number;
    /** Where to go on, from the root; the home page unless said otherwise. */
    wayOn?: { path: string; text: string };
  },
): Page {
  const { path, text } = wayOn ?? { path: "", text: texts.errors.home };
  return {
    title,
    description: help,
    status,
    ...(retrySeconds === undefined ? {} : { retrySeconds }),
    main: html`<section class="message" role="status">
<h1>${title}</h1>
<p>${help}</p>
<p>${el.link(path, text)}</p>
</section>`,
  };
}

export function missingPage(context: PageContext): Page {
  const { notFound, notFoundHelp } = context.texts.errors;
  return errorPage(context, { title: notFound, help: notFoundHelp, status: 404 });
}

/** Lists refuse a cursor of a chain that is gone; nothing else of a page can be refused. */
export function refusedPage(context: PageContext, path: string): Page {
  const { wrongCursor, wrongCursorHelp, first } = context.texts.errors;
  const begin = path.includes(":") ? {} : { wayOn: { path: path.slice(1), text: first } };
  return errorPage(context, { title: wrongCursor, help: wrongCursorHelp, status: 410, ...begin });
}

/** The chain or the index is away; the page tries again by itself. */
export function awayPage(context: PageContext, what: "chain" | "index"): Page {
  const { away, awayChain, awayIndex } = context.texts.errors;
  return errorPage(context, {
    title: away,
    help: what === "chain" ? awayChain : awayIndex,
    status: 503,
    retrySeconds: 5,
  });
}
