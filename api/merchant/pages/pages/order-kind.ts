import type { Html } from "../../../../lib/web/html.ts";
import type { AnyOrderRecord, OrderRecord, WebhookOrderRecord } from "../../orders/order-record.ts";
import { scopeList, type Tab } from "../elements.ts";
import type { SignedIn } from "../merchant-page.ts";

/** What an order's page says and leads to by what is bought; all else is the same for every order. */
export type OrderKind = {
  title: string;
  tab: Tab;
  /** The last step, in which what was bought is handed over. */
  lastStep: string;
  says: { paid: string; used: string; usedHelp: string };
  /** What hands it over, by a POST below the order's own path. */
  take: { path: "key" | "webhook"; text: string };
  /** Where to go on, afterwards and after an order that ran out; from the root. */
  back: { path: string; text: string };
  again: { path: string; text: string };
  /** Beside those that every order has. */
  facts: (readonly [string, string | Html] | undefined)[];
};

export function orderKind(context: SignedIn, order: AnyOrderRecord): OrderKind {
  return order.kind === "api_key" ? ofKey(context, order) : ofWebhook(context, order);
}

function ofKey(context: SignedIn, order: OrderRecord): OrderKind {
  const { words, el, sales } = context;
  const { order: texts } = words;
  const days = sales.packages.find(({ name }) => name === order.package)?.days ?? 0;
  return {
    title: texts.title(words.packages.days(el.integer(days))),
    tab: "keys",
    lastStep: texts.steps.key,
    says: texts.says,
    take: { path: "key", text: texts.take },
    back: { path: "merchant/keys", text: texts.keys },
    again: { path: "merchant/buy", text: texts.another },
    facts: [
      order.label === "" ? undefined : [texts.label, order.label],
      [words.keys.scopes, scopeList(context, order.scopes)],
    ],
  };
}

function ofWebhook({ words }: SignedIn, { url }: WebhookOrderRecord): OrderKind {
  const { webhooks, order: texts } = words;
  const path = "merchant/webhooks";
  return {
    title: webhooks.order.title,
    tab: "webhooks",
    lastStep: webhooks.order.step,
    says: webhooks.order,
    take: { path: "webhook", text: webhooks.order.take },
    back: { path, text: webhooks.order.back },
    again: { path, text: texts.another },
    facts: [url === null ? undefined : [webhooks.url, url]],
  };
}
