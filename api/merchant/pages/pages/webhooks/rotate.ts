import { errorTable } from "../../../../../lib/errors.ts";
import { isRefusal } from "../../../../../lib/http-service/refusal.ts";
import { html } from "../../../../../lib/web/html.ts";
import { pageHead } from "../../elements.ts";
import type { MerchantRoute } from "../../merchant-page.ts";
import { webhookRefusal } from "./save-webhook.ts";
import { webhookSecretPage } from "./webhook-secret-page.ts";
import { showWebhooks } from "./webhooks-page.ts";

const path = "/merchant/webhooks/rotate";

/** What a new secret means, before there is one. */
export const askToRotate: MerchantRoute = {
  method: "GET",
  path,
  answer(context) {
    const { words, el, webhook } = context;
    const { rotate: texts } = words.webhooks;
    if (webhook === null) return { redirect: "merchant/webhooks" };
    const again = webhook.rotatingUntil === null ? html`` : html`<p class="alarm">${texts.again}</p>`;
    return {
      title: texts.title,
      description: texts.why,
      main: html`${pageHead(context, { title: texts.title, tab: "webhooks" })}
<section class="card">
<p class="lead">${texts.how}</p>
${again}
<p>${texts.details}</p>
<form method="post" action="${el.to("merchant/webhooks/rotate")}" data-once>
<p class="actions"><button type="submit">${texts.confirm}</button>
<a class="button quiet" href="${el.to("merchant/webhooks")}">${texts.keep}</a></p>
</form>
</section>`,
    };
  },
};

/** Makes a new secret, and shows it this once. */
export const rotate: MerchantRoute = {
  method: "POST",
  path,
  async answer(context) {
    const rotated = await context.webhooks.rotate(context.session.wallet);
    if (!isRefusal(rotated)) return webhookSecretPage(context, rotated.secret);
    if (rotated.refused === "not_found") return { redirect: "merchant/webhooks" };
    const { status } = errorTable[rotated.refused];
    return showWebhooks(context, { fault: webhookRefusal(context, rotated), status });
  },
};
