import { network } from "../../lib/network.ts";
import { languageLinks } from "../../lib/web/elements/language-links.ts";
import { type Html, html } from "../../lib/web/html.ts";
import type { Language } from "../../lib/web/languages.ts";
import { pageShell } from "../../lib/web/page-shell.ts";
import { filesFolder } from "./files.ts";
import type { Page, PageContext } from "./page.ts";
import type { Texts } from "./texts/en.ts";

/** The navigation, in its order; paths count from the root. */
const entries: readonly { entry: Exclude<keyof Texts["nav"], "label">; path: string }[] = [
  { entry: "home", path: "" },
  { entry: "blocks", path: "blocks" },
  { entry: "transactions", path: "txs" },
  { entry: "tokens", path: "tokens" },
  { entry: "validators", path: "validators" },
  { entry: "burns", path: "burns" },
  { entry: "contracts", path: "contracts" },
  { entry: "network", path: "network" },
  { entry: "merchant", path: "merchant" },
  { entry: "docs", path: "docs" },
];

/** What surrounds every page: its head, the navigation, search, and the links to the other languages. */
export function frame(
  context: PageContext,
  {
    page,
    language,
    root,
    path,
    entry,
  }: {
    page: Page;
    language: Language;
    root: string;
    /** Of the page, from the root, with its query and without a slash before it. */
    path: string;
    entry: keyof Texts["nav"] | undefined;
  },
): string {
  const { texts, settings } = context;
  const { title, description, main, retrySeconds, live, previous, next, searched = "", assets } = page;
  const files = root + filesFolder;
  const own =
    assets === undefined
      ? html``
      : html`<link rel="stylesheet" href="${files}${assets}.css"><script type="module" src="${files}${assets}.js"></script>`;
  const neighbours = [
    ...(previous === undefined ? [] : [html`<link rel="prev" href="${root}${previous}">`]),
    ...(next === undefined ? [] : [html`<link rel="next" href="${root}${next}">`]),
  ];
  // Not a page that loads itself again, which takes the reader's place away (WCAG 2.1, 2.2.1).
  const again =
    retrySeconds === undefined && live === undefined
      ? html``
      : html`<noscript><p class="note"><a href="${root}${path}">${texts.again}</a></p></noscript>
`;
  return pageShell({
    language,
    root,
    files,
    title,
    product: texts.explorer,
    head: html`<meta name="description" content="${description}">
    <meta property="og:title" content="${title}">
    <meta property="og:description" content="${description}">
    <meta property="og:type" content="website">
    <meta property="og:url" content="${settings.publicUrl.replace(/\/$/, "")}/${path.split("?", 1)[0] ?? ""}">
    <meta property="og:site_name" content="${network.chainName}">
    ${neighbours}
    ${own}`,
    bodyAttributes: html` data-root="${root}" data-words="${JSON.stringify({ ...texts.live, ...page.words })}"${live === undefined ? html`` : html` data-live="${live}"`}${retrySeconds === undefined ? html`` : html` data-retry-seconds="${String(retrySeconds)}"`}`,
    top: html`<a class="skip" href="#main">${texts.skip}</a>
      <form class="search" role="search" action="${root}search">
        <label for="q" class="unseen">${texts.search.label}</label>
        <input id="q" name="q" type="search" value="${searched}" placeholder="${texts.search.placeholder}" title="${texts.search.hint}" maxlength="100" spellcheck="false" autocomplete="off" autocapitalize="off">
        <button type="submit">${texts.search.submit}</button>
      </form>
      <nav class="pages" aria-label="${texts.nav.label}"><ul>
        ${entries.map((item) => navigationItem(item, { texts, root, current: entry }))}
      </ul></nav>`,
    main: html`${again}${main}`,
    foot: html`<footer class="foot">
      <p>${network.chainName} · ${texts.footer.chainId(network.chainId)} · ${texts.footer.about}</p>
      <p class="keys">${texts.footer.keys}</p>
      <p>${texts.footer.language}: ${languageLinks({ language, root, path })}</p>
    </footer>`,
  });
}

function navigationItem(
  { entry, path }: (typeof entries)[number],
  { texts, root, current }: { texts: Texts; root: string; current: keyof Texts["nav"] | undefined },
): Html {
  const here = entry === current ? html` aria-current="page"` : html``;
  return html`<li><a href="${root}${path}"${here}>${texts.nav[entry]}</a></li>`;
}
