import { facts } from "../../../../lib/web/elements/table.ts";
import { type Html, html } from "../../../../lib/web/html.ts";
import type { KeyRecord } from "../../api-keys/api-key.ts";
import type { AnyOrderRecord } from "../../orders/order-record.ts";
import { moment, notice, pageHead, scopeList } from "../elements.ts";
import type { MerchantRoute, SignedIn } from "../merchant-page.ts";

/** A wallet's keys, and the orders that wait. */
export const keys: MerchantRoute = {
  method: "GET",
  path: "/merchant/keys",
  async answer(context, { query }) {
    const { words, el, sales, session } = context;
    const [all, waiting] = await Promise.all([
      sales.keysOf(session.wallet),
      sales.waitingOrdersOf(session.wallet),
    ]);
    const active = all.filter(({ state }) => state === "active");
    const ended = all.filter(({ state }) => state !== "active");
    const { activeKeysMax } = sales;
    const count = words.keys.count(el.integer(active.length), el.integer(activeKeysMax));
    const buy = html`<p class="actions"><a class="button" href="${el.to("merchant/buy")}">${words.keys.buy}</a></p>`;
    return {
      title: words.keys.title,
      description: words.intro,
      main: html`${pageHead(context, { title: words.keys.title, tab: "keys" })}
${notice(query["done"] === "revoked" ? words.keys.wasRevoked : undefined)}
${waitingCards(
  context,
  waiting.filter(({ kind }) => kind === "api_key"),
)}
${
  active.length === 0
    ? html`<section class="card"><h2>${words.keys.none}</h2><p>${words.keys.noneHelp}</p>${buy}</section>`
    : html`<section class="keys" aria-label="${words.keys.title}">${active.map((key) => keyCard(context, key))}</section>
<div class="below"><p class="soft">${count}</p>${active.length < activeKeysMax ? buy : html``}</div>`
}
${endedKeys(context, ended)}`,
    };
  },
};

/** What tells a key from the others. */
export function nameOfKey({ label, hint }: Pick<KeyRecord, "label" | "hint">): string {
  return label === "" ? hint : label;
}

/** The orders that lead somewhere; those that are paid come first. */
export function waitingCards(context: SignedIn, orders: readonly AnyOrderRecord[]): Html[] {
  const paidFirst = orders.toSorted(
    (one, other) => Number(other.status === "paid") - Number(one.status === "paid"),
  );
  return paidFirst.map((order) => waitingCard(context, order));
}

function waitingCard(context: SignedIn, order: AnyOrderRecord): Html {
  const { el } = context;
  const isPaid = order.status === "paid";
  const { says, goOn } = waitingTexts(context, order);
  return html`<section class="card todo-card">
<p><strong>${says}</strong></p>
<p class="actions"><a class="button${isPaid ? "" : " quiet"}" href="${el.to(`merchant/orders/${order.id}`)}">${goOn}</a></p>
</section>`;
}

/** What an order waits for, and where it goes on. */
export function waitingTexts({ words }: SignedIn, order: AnyOrderRecord): { says: string; goOn: string } {
  const { waiting, webhooks } = words;
  const isPaid = order.status === "paid";
  if (order.kind === "webhook_url") {
    const { paid, takePaid, open } = webhooks.waiting;
    return isPaid ? { says: paid, goOn: takePaid } : { says: open, goOn: waiting.goOn };
  }
  const name = order.label === "" ? words.packages.names[order.package] : order.label;
  return isPaid
    ? { says: waiting.paid(name), goOn: waiting.takePaid }
    : { says: waiting.open(name), goOn: waiting.goOn };
}

function keyCard(context: SignedIn, key: KeyRecord): Html {
  const { words, el } = context;
  const { keys: texts } = words;
  const name = nameOfKey(key);
  const isActive = key.state === "active";
  return html`<article class="card key">
<h2>${key.label === "" ? texts.unnamed : key.label}</h2>
<p>${stateOf(context, key)} <code>${key.hint}</code></p>
${facts([
  [texts.package, words.packages.names[key.package]],
  [texts.scopes, scopeList(context, key.scopes)],
  [texts.created, moment(context, key.createdAt)],
  key.revokedAt === null
    ? [isActive ? texts.expires : texts.expired, moment(context, key.expiresAt)]
    : [texts.revoked, moment(context, key.revokedAt)],
  [texts.lastUsed, key.lastUsedAt === null ? texts.never : moment(context, key.lastUsedAt)],
])}
${
  isActive
    ? html`<p class="actions"><a class="button quiet" href="${el.to(`merchant/keys/${key.id}/revoke`)}" aria-label="${texts.revokeNamed(name)}">${texts.revoke}</a></p>`
    : html``
}
</article>`;
}

function stateOf({ words }: SignedIn, { state }: KeyRecord): Html {
  const [kind, sign] = state === "active" ? ["success", "✓"] : ["pending", "–"];
  return html`<span class="status ${kind ?? ""}"><span aria-hidden="true">${sign ?? ""}</span> ${words.keys.states[state]}</span>`;
}

function endedKeys(context: SignedIn, ended: readonly KeyRecord[]): Html {
  if (ended.length === 0) return html``;
  const { words, el } = context;
  return html`<details><summary>${words.keys.ended(ended.length, el.integer(ended.length))}</summary>
<section class="keys" aria-label="${words.keys.ended(ended.length, el.integer(ended.length))}">${ended.map((key) => keyCard(context, key))}</section>
</details>`;
}
