import { type Html, html } from "../../../lib/web/html.ts";
import type { PageContext } from "../page.ts";

const sizes = [20, 50, 100];

/**
 * The way to older rows, as links. `query` is what the list was asked with, without its cursor.
 */
export function pager(
  { texts, el }: PageContext,
  {
    path,
    query = {},
    limit,
    isFirst,
    nextCursor,
  }: {
    path: string;
    query?: Readonly<Record<string, string | undefined>>;
    limit: number;
    isFirst: boolean;
    nextCursor: string | null;
  },
): Html {
  const hrefOf = (more: Readonly<Record<string, string | undefined>>) => {
    const given = Object.entries({
      ...query,
      ...(limit === sizes[0] ? {} : { limit: String(limit) }),
      ...more,
    });
    const entries = given.flatMap(([name, value]) => (value === undefined ? [] : [[name, value] as const]));
    const text = new URLSearchParams(Object.fromEntries(entries)).toString();
    return el.to(text === "" ? path : `${path}?${text}`);
  };
  const newest = isFirst ? html`` : html`<a href="${hrefOf({})}">← ${texts.list.newest}</a>`;
  const older =
    nextCursor === null
      ? html``
      : html`<a rel="next" href="${hrefOf({ cursor: nextCursor })}">${texts.list.older} →</a>`;
  const counts = sizes.map((size) =>
    size === limit
      ? html`<span aria-current="true">${String(size)}</span>`
      : html`<a href="${hrefOf({ limit: String(size) })}">${String(size)}</a>`,
  );
  return html`<nav class="pager" aria-label="${texts.list.older}"><span>${newest} ${older}</span><span class="sizes">${texts.list.rowsAPage}: ${counts}</span></nav>`;
}
