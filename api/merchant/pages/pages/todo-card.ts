import { type Html, html } from "../../../../lib/web/html.ts";
import type { DashboardRecord } from "../../dashboard/dashboard-record.ts";
import type { Attention } from "../../dashboard/read-attention.ts";
import { formatRupiah } from "../../invoices/format-rupiah.ts";
import type { AnyOrderRecord } from "../../orders/order-record.ts";
import { moment } from "../elements.ts";
import type { SignedIn } from "../merchant-page.ts";
import { nameOfKey, waitingTexts } from "./keys.ts";

/** What needs the merchant, a line each with where to go; a disabled webhook stands above it on every page. */
export function todoCard(
  context: SignedIn,
  {
    numbers,
    attention,
    paid,
  }: { numbers: DashboardRecord; attention: Attention; paid: readonly AnyOrderRecord[] },
): Html {
  const { overview: texts } = context.words;
  const items = [
    ...ofOrders(context, paid),
    ...ofInvoices(context, attention),
    ...ofWebhook(context, numbers),
    ...ofKeys(context, attention),
  ];
  const list =
    items.length === 0
      ? html`<p class="note">${texts.nothingToDo}</p>`
      : html`<ul class="rows">${items}</ul>`;
  return html`<section class="card" aria-labelledby="to-do"><h2 id="to-do">${texts.todo}</h2>${list}</section>`;
}

function item({ el }: SignedIn, what: string | Html, { path, link }: { path: string; link: string }): Html {
  return html`<li><p>${what}</p><p><a href="${el.to(path)}">${link}</a></p></li>`;
}

/** What is paid for and not taken. */
function ofOrders(context: SignedIn, paid: readonly AnyOrderRecord[]): Html[] {
  return paid.map((order) => {
    const { says, goOn } = waitingTexts(context, order);
    return item(context, says, { path: `merchant/orders/${order.id}`, link: goOn });
  });
}

function ofInvoices(context: SignedIn, { since, underpaid, late, overpaid }: Attention): Html[] {
  const { words, el } = context;
  const { overview: texts } = words;
  const rows = [
    { state: "underpaid", some: underpaid, says: texts.underpaid },
    { state: "paid_late", some: late, says: texts.late },
    { state: "overpaid", some: overpaid, says: texts.overpaid },
  ];
  return rows
    .filter(({ some }) => some.count > 0)
    .map(({ state, some: { count, amountIdr }, says }) =>
      item(context, says(count, el.integer(count), formatRupiah(amountIdr)), {
        path: `merchant/invoices?state=${state}&from=${since}`,
        link: texts.look,
      }),
    );
}

function ofWebhook(context: SignedIn, { webhook: { state, failed24h } }: DashboardRecord): Html[] {
  const { words, el } = context;
  const { overview: texts } = words;
  if (state !== "failing" && failed24h === 0) return [];
  const says = [
    ...(state === "failing" ? [texts.webhookFailing] : []),
    ...(failed24h > 0 ? [texts.failed(failed24h, el.integer(failed24h))] : []),
  ];
  return [item(context, says.join(" "), { path: "merchant/webhooks", link: texts.look })];
}

function ofKeys(context: SignedIn, { expiringKeys }: Attention): Html[] {
  const { overview: texts } = context.words;
  return expiringKeys.map((key) =>
    item(context, html`${texts.keyExpires(nameOfKey(key))} ${moment(context, key.expiresAt.toISOString())}`, {
      path: "merchant/buy",
      link: texts.buyNext,
    }),
  );
}
