import { copyable } from "../../../../lib/web/elements/copyable.ts";
import { type Html, html } from "../../../../lib/web/html.ts";
import type { Page } from "../../../explorer/page.ts";
import { pageHead, type Tab } from "../elements.ts";
import type { SignedIn } from "../merchant-page.ts";

/**
 * A secret, shown once: to copy, or to save as a file. `back` is where a browser gets that loads the page again (from the root), since the
 * same POST would ask for the secret a second time; the script writes it into the address.
 */
export function secretPage(
  context: SignedIn,
  {
    title,
    tab,
    texts,
    secret,
    file,
    back,
    saved,
    use,
  }: {
    title: string;
    tab: Tab;
    texts: { once: string; secret: string; download: string };
    secret: string;
    /** Lines of a .env file. */
    file: string;
    back: string;
    saved: { path: string; text: string };
    /** What to do with it. */
    use: Html;
  },
): Page {
  const { words, el } = context;
  return {
    title,
    description: words.intro,
    main: html`${pageHead(context, { title, tab })}
<section class="card secret" id="secret" data-back="${el.to(back)}">
<p class="lead" role="status">${texts.once}</p>
<p class="key-text">${copyable(secret, html`<code class="long">${secret}</code>`, texts.secret)}</p>
<p class="actions"><a class="button" download="tollgate.env" href="data:text/plain;charset=utf-8,${encodeURIComponent(file)}">${texts.download}</a>
<a class="button quiet" href="${el.to(saved.path)}">${saved.text}</a></p>
</section>
<section class="card">${use}</section>`,
  };
}
