import { type Html, html } from "./html.ts";

/** A whole page around its main part: `page.css`, `page.js` and `icon.svg` below `files` are the page's own files. */
export function pageShell({
  language = "en",
  root = "/",
  files = root,
  title,
  product = "",
  brand,
  hasScript = true,
  head = html``,
  bodyAttributes = html``,
  top = html``,
  main,
  foot = html``,
}: {
  /** The language of its texts (BCP 47). */
  language?: string;
  /** Leads to the first page: "/", or "./" and "../" where a proxy serves the pages in a folder. */
  root?: string;
  /** Leads to its files; else they are at the root. */
  files?: string;
  title: string;
  /** Which part of Tollgate this is: "faucet". */
  product?: string;
  /** In place of Tollgate's name, where the page is somebody else's: after its title, and at the top. */
  brand?: { name: string; top: Html };
  /** Whether it has a `page.js`. */
  hasScript?: boolean;
  /** More for the head. */
  head?: Html;
  /** With a blank before the first. */
  bodyAttributes?: Html;
  /** More for the header, after the name. */
  top?: Html;
  main: Html;
  /** What stands below the main part. */
  foot?: Html;
}): string {
  return html`<!doctype html>
<html lang="${language}">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <meta name="color-scheme" content="light dark">
    <title>${title} · ${brand?.name ?? `Tollgate ${product}`}</title>
    <link rel="icon" href="${files}icon.svg" type="image/svg+xml">
    <link rel="stylesheet" href="${files}page.css">
    ${hasScript ? html`<script type="module" src="${files}page.js"></script>` : html``}
    ${head}
  </head>
  <body${bodyAttributes}>
    <header class="top">
      ${
        brand?.top ??
        html`<img src="${files}icon.svg" alt="" width="32" height="32">
      <p class="brand">Tollgate <span>${product}</span></p>`
      }
      ${top}
    </header>
    <main id="main">
${main}
    </main>
    ${foot}
  </body>
</html>
`.text;
}
