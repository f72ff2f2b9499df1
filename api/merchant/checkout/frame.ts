import { network } from "../../../lib/network.ts";
import { languageLinks } from "../../../lib/web/elements/language-links.ts";
import { html } from "../../../lib/web/html.ts";
import { pageShell } from "../../../lib/web/page-shell.ts";
import { filesFolder } from "../../explorer/files.ts";
import type { CheckoutContext, CheckoutPage } from "./checkout-page.ts";
import { shopName } from "./elements.ts";

/** What surrounds a payment page. A customer is a guest of the shop: its name stands first, and nothing of the explorer. */
export function checkoutFrame(
  context: CheckoutContext,
  {
    page: { title, description, main, invoice },
    root,
    path,
  }: {
    page: CheckoutPage;
    root: string;
    /** Of the page, from the root, with its query and without a slash before it. */
    path: string;
  },
): string {
  const { words, language, el } = context;
  const files = root + filesFolder;
  const name = invoice === undefined ? network.chainName : shopName(context, invoice);
  const account =
    invoice === undefined
      ? html``
      : html` <span class="account-short">${el.short(invoice.invoice.wallet)}</span>`;
  return pageShell({
    language,
    root,
    files,
    title,
    hasScript: false,
    brand: {
      name,
      top: html`<p class="brand shop"><span class="unseen">${words.shop.paidTo}:</span> <bdi>${name}</bdi>${account}</p>`,
    },
    head: html`<meta name="description" content="${description}">
    <meta name="robots" content="noindex, nofollow">
    <meta property="og:title" content="${title}">
    <meta property="og:description" content="${description}">
    <meta property="og:site_name" content="${name}">
    <link rel="stylesheet" href="${files}checkout.css">
    <script type="module" src="${files}checkout.js"></script>`,
    bodyAttributes: html` class="checkout-page" data-words="${JSON.stringify(words.words)}"`,
    top: html`<a class="skip" href="#main">${words.skip}</a>`,
    main,
    foot: html`<footer class="foot">
      <p>${words.foot.direct}</p>
      <p>${network.chainName} · ${words.ways.chainId(String(network.chainId))}</p>
      <p>${words.foot.language}: ${languageLinks({ language, root, path })}</p>
    </footer>`,
  });
}
