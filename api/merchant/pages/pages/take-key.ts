import { isRefusal, type Refusal } from "../../../../lib/http-service/refusal.ts";
import { html } from "../../../../lib/web/html.ts";
import type { Page } from "../../../explorer/page.ts";
import { message } from "../elements.ts";
import type { MerchantRoute, SignedIn } from "../merchant-page.ts";
import { refusalText } from "../refusal-text.ts";
import { missingOrder } from "./order.ts";
import { secretPage } from "./secret-page.ts";

/** Issues a paid order's key, and shows it: the one page that has a secret in it. */
export const takeKey: MerchantRoute = {
  method: "POST",
  path: "/merchant/orders/:id/key",
  async answer(context, { params: { id = "" } }) {
    const { sales, session } = context;
    const issued = await sales.issue(session.wallet, id);
    if (isRefusal(issued)) return notIssued(context, { orderId: id, refused: issued });
    return keyPage(context, { key: issued.secret, orderId: id });
  },
};

/** Where a browser that loads the page again goes: to the order. */
export const takenKey: MerchantRoute = {
  method: "GET",
  path: "/merchant/orders/:id/key",
  answer: (_context, { params: { id = "" } }) => ({ redirect: `merchant/orders/${encodeURIComponent(id)}` }),
};

function notIssued(context: SignedIn, { orderId, refused }: { orderId: string; refused: Refusal }): Page {
  const { words, el, sales } = context;
  const { secret } = words;
  const path = `merchant/orders/${encodeURIComponent(orderId)}`;
  if (refused.refused === "not_found") return missingOrder(context);
  if (refused.refused === "payment_already_used") {
    return message(context, {
      title: secret.gone,
      help: secret.goneHelp,
      status: 409,
      path: "merchant/keys",
    });
  }
  if (refused.refused === "payment_required") {
    return message(context, { title: secret.notPaid, help: secret.notPaidHelp, status: 402, path });
  }
  if (refused.refused === "key_limit_reached") {
    const help = secret.limitHelp(el.integer(sales.activeKeysMax));
    return message(context, { title: secret.limit, help, status: 409, path: "merchant/keys" });
  }
  const help = refusalText(context, refused);
  return message(context, { title: words.errors.refused, help, status: 503, path });
}

function keyPage(context: SignedIn, { key, orderId }: { key: string; orderId: string }): Page {
  const { words, settings } = context;
  const { secret: texts } = words;
  const publicUrl = settings.publicUrl.replace(/\/$/, "");
  const call = `curl -s ${publicUrl}/api/v1/svc-dev/v1/dashboard -H "X-Svc-Dev-Key: $SVC_DEV_KEY"`;
  return secretPage(context, {
    ...{ title: texts.title, tab: "keys", texts, secret: key },
    file: `SVC_DEV_URL=${publicUrl}\nSVC_DEV_KEY=${key}\n`,
    back: `merchant/orders/${encodeURIComponent(orderId)}`,
    saved: { path: "merchant/keys", text: texts.tried },
    use: html`<h2>${texts.use}</h2>
<p>${texts.useHelp}</p>
<pre class="raw" tabindex="0">${call}</pre>`,
  });
}
