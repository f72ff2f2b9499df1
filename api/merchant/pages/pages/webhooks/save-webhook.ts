import { errorTable } from "../../../../../lib/errors.ts";
import { isRefusal, type Refusal } from "../../../../../lib/http-service/refusal.ts";
import type { Page } from "../../../../explorer/page.ts";
import { webhookOrderRecord } from "../../../orders/order-record.ts";
import { idOf } from "../../../public-id.ts";
import { message } from "../../elements.ts";
import type { MerchantAnswer, MerchantRoute, SignedIn } from "../../merchant-page.ts";
import { missingOrder } from "../order.ts";
import { webhookSecretPage } from "./webhook-secret-page.ts";
import { showWebhooks } from "./webhooks-page.ts";

/** Saves a URL: the first one leads to the order of the fee, or to the secret where that is paid. */
export const saveWebhookUrl: MerchantRoute = {
  method: "POST",
  path: "/merchant/webhooks",
  async answer(context, { form }) {
    const { webhooks, session, words } = context;
    const url = typeof form["url"] === "string" ? form["url"].trim() : "";
    const fault = webhooks.urlFault(url);
    if (fault !== undefined) {
      return showWebhooks(context, { typed: url, urlFault: words.webhooks.wrongUrl[fault], status: 400 });
    }
    const saved = await webhooks.save(session.wallet, { url, orderId: undefined, txHash: undefined });
    if (!isRefusal(saved)) {
      return saved.secret === undefined
        ? { redirect: "merchant/webhooks?done=saved" }
        : webhookSecretPage(context, saved.secret);
    }
    const order = webhookOrderRecord.safeParse(saved.members?.["order"]);
    if (order.success) return { redirect: `merchant/orders/${order.data.id}` };
    const { status } = errorTable[saved.refused];
    return showWebhooks(context, { typed: url, fault: webhookRefusal(context, saved), status });
  },
};

const takePath = "/merchant/orders/:id/webhook";

/** Saves the URL of an order that is paid, and shows the secret, this once. */
export const takeWebhook: MerchantRoute = {
  method: "POST",
  path: takePath,
  async answer(context, { params: { id = "" } }): Promise<MerchantAnswer> {
    const { sales, webhooks, webhook, session, words } = context;
    const order = await sales.findOrder(session.wallet, id);
    if (isRefusal(order) || order.kind !== "webhook_url") return missingOrder(context);
    const { url } = order;
    // Of an order that was made before its URL was kept: it is typed once more.
    if (url === null) return { redirect: "merchant/webhooks" };
    const path = `merchant/orders/${order.id}`;
    if (order.status === "open" || order.status === "expired") {
      const { notPaid, notPaidHelp } = words.secret;
      return message(context, { title: notPaid, help: notPaidHelp, status: 402, path });
    }
    // What was changed since stays: taking the secret again changes no URL back.
    if (webhook !== null && webhook.url !== url) return shownAlready(context);
    const saved = await webhooks.save(session.wallet, {
      ...{ url, txHash: undefined },
      orderId: idOf("ord").parse(order.id),
    });
    if (isRefusal(saved)) {
      const { status } = errorTable[saved.refused];
      const help = webhookRefusal(context, saved);
      return message(context, { title: words.errors.refused, help, status, path });
    }
    return saved.secret === undefined ? shownAlready(context) : webhookSecretPage(context, saved.secret);
  },
};

/** Where a browser that loads the page again goes: to the order. */
export const takenWebhook: MerchantRoute = {
  method: "GET",
  path: takePath,
  answer: (_context, { params: { id = "" } }) => ({ redirect: `merchant/orders/${encodeURIComponent(id)}` }),
};

function shownAlready(context: SignedIn): Page {
  const { gone, goneHelp } = context.words.webhooks.secret;
  return message(context, { title: gone, help: goneHelp, status: 409, path: "merchant/webhooks" });
}

/** Why something was not done with a webhook, in the page's language. */
export function webhookRefusal({ words }: SignedIn, { refused }: Refusal): string {
  const { errors } = words.webhooks;
  if (refused === "rate_limited") return words.errors.tooMany;
  return errorTable[refused].status === 503 ? errors.noPurchases : words.errors.other;
}
