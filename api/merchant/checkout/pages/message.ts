import { html } from "../../../../lib/web/html.ts";
import type { CheckoutContext, CheckoutPage } from "../checkout-page.ts";

/** A page that says what is the matter, and what to do. `again`: whether loading it again may help. */
export function messagePage(
  { words }: CheckoutContext,
  { title, help, status, again = true }: { title: string; help: string; status: number; again?: boolean },
): CheckoutPage {
  const link = again
    ? html`<p class="actions"><a class="button" href="">${words.errors.again}</a></p>`
    : html``;
  return {
    title,
    description: help,
    status,
    main: html`<section class="message card" role="status">
<h1>${title}</h1>
<p>${help}</p>
${link}
</section>`,
  };
}
