import { type Html, html } from "../../../../../lib/web/html.ts";
import { urlCharsMax } from "../../../webhooks/webhook-url.ts";
import type { SignedIn } from "../../merchant-page.ts";

/** Where a webhook's URL is typed; `fault` stands beside it. */
export function webhookForm(
  { words, el }: SignedIn,
  { url, submit, fault }: { url: string; submit: string; fault?: string | undefined },
): Html {
  const { webhooks: texts } = words;
  const error =
    fault === undefined ? html`` : html`<p class="error" id="url-error" role="alert">${fault}</p>`;
  const described = fault === undefined ? "url-hint" : "url-error url-hint";
  return html`<form class="order-form" method="post" action="${el.to("merchant/webhooks")}" data-once>
<div class="fields"><label for="url">${texts.url}</label>
<input id="url" name="url" type="url" inputmode="url" value="${url}" required maxlength="${String(urlCharsMax)}" autocomplete="off" spellcheck="false" placeholder="https://shop.example/hook" aria-describedby="${described}"${fault === undefined ? html`` : html` aria-invalid="true"`}>
${error}<p class="hint" id="url-hint">${texts.urlHint}</p></div>
<p class="actions"><button type="submit">${submit}</button></p>
</form>`;
}
