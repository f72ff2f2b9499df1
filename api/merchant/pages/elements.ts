import { type Html, html } from "../../../lib/web/html.ts";
import type { KeyScope } from "../../rest/security.ts";
import type { MerchantContext, SignedIn } from "./merchant-page.ts";
import type { Texts } from "./texts/en.ts";

export type Tab = Exclude<keyof Texts["tabs"], "label">;

const tabPaths: readonly (readonly [Tab, string])[] = [
  ["overview", "merchant"],
  ["invoices", "merchant/invoices"],
  ["keys", "merchant/keys"],
  ["webhooks", "merchant/webhooks"],
  ["settings", "merchant/settings"],
  ["sessions", "merchant/sessions"],
];

/** The heading of a page for somebody who has signed in, the other pages, and the way out. */
export function pageHead(context: SignedIn, { title, tab }: { title: string; tab?: Tab }): Html {
  const { words, el, session } = context;
  const links = tabPaths.map(([name, path]) => {
    const current = name === tab ? html` aria-current="page"` : html``;
    return html`<a href="${el.to(path)}"${current}>${words.tabs[name]}</a>`;
  });
  return html`<div class="intro wide"><h1>${title}</h1>
<div class="who"><p>${words.account.signedInAs} ${el.addressLink(session.wallet)}</p>
<form method="post" action="${el.to("merchant/sign-out")}"><button class="quiet small">${words.account.signOut}</button></form></div>
<nav class="tabs" aria-label="${words.tabs.label}">
${links}
</nav></div>
${tab === "webhooks" ? html`` : disabledWebhook(context)}`;
}

/** That nothing is sent any more has to be seen, wherever somebody is; the webhook's own page says more of it. */
function disabledWebhook(context: SignedIn): Html {
  const { words, el, webhook } = context;
  if (webhook?.disabledAt === null || webhook?.disabledAt === undefined) return html``;
  const { disabledWebhook: texts } = words.overview;
  return html`<p class="alarm" role="status">${texts.since} ${moment(context, webhook.disabledAt)}. <a href="${el.to("merchant/webhooks")}">${texts.look}</a></p>`;
}

/** What has just been done, or why not. */
export function notice(text: string | undefined, kind: "good" | "bad" = "good"): Html {
  if (text === undefined) return html``;
  return kind === "good"
    ? html`<p class="done" role="status">${text}</p>`
    : html`<p class="alarm" role="alert">${text}</p>`;
}

/** A moment, which a script tells as well by how far away it is. */
export function moment({ el }: MerchantContext, iso: string): Html {
  return el.time(`${iso.slice(0, 19)}Z`);
}

export function scopeList({ words }: MerchantContext, scopes: readonly KeyScope[]): string {
  const names = scopes.map((scope) => words.scopes.names[scope]);
  return names.map((name, index) => (index === 0 ? name : lowerFirst(name))).join(", ");
}

function lowerFirst(text: string): string {
  return text.slice(0, 1).toLowerCase() + text.slice(1);
}

/** A page that says what is the matter, and leads back. */
export function message(
  context: MerchantContext,
  { title, help, status, path = "merchant" }: { title: string; help: string; status: number; path?: string },
) {
  const { words, el } = context;
  return {
    title,
    description: help,
    status,
    main: html`<section class="message" role="status">
<h1>${title}</h1>
<p>${help}</p>
<p>${el.link(path, words.errors.back)}</p>
</section>`,
  };
}
