import { type Html, html } from "./html.ts";

/** A whole page around its main part: `/page.css`, `/page.js` and `/icon.svg` are the page's own files. */
export function pageShell({
  title,
  product,
  head = html``,
  bodyAttributes = html``,
  main,
}: {
  title: string;
  /** Which part of Tollgate this is: "faucet". */
  product: string;
  /** More for the head. */
  head?: Html;
  /** With a blank before the first. */
  bodyAttributes?: Html;
  main: Html;
}): string {
  return html`<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <meta name="color-scheme" content="light dark">
    <title>${title} · Tollgate ${product}</title>
    <link rel="icon" href="/icon.svg" type="image/svg+xml">
    <link rel="stylesheet" href="/page.css">
    <script type="module" src="/page.js"></script>
    ${head}
  </head>
  <body${bodyAttributes}>
    <header class="top">
      <img src="/icon.svg" alt="" width="32" height="32">
      <p class="brand">Tollgate <span>${product}</span></p>
    </header>
    <main>
${main}
    </main>
  </body>
</html>
`.text;
}
