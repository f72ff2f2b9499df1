import { facts } from "../../../../../lib/web/elements/table.ts";
import { type Html, html } from "../../../../../lib/web/html.ts";
import type { Page } from "../../../../explorer/page.ts";
import type { WebhookRecord } from "../../../webhooks/webhook-record.ts";
import { moment, notice, pageHead } from "../../elements.ts";
import type { Input, MerchantRoute, SignedIn } from "../../merchant-page.ts";
import { waitingCards } from "../keys.ts";
import { fromJakartaTime, toJakartaTime } from "./jakarta-time.ts";
import { webhookForm } from "./webhook-form.ts";
import { webhookLog } from "./webhook-log.ts";

const dayMs = 86_400_000;

/** Where a wallet is told of its payments, and what became of each telling. */
export const webhooksPage: MerchantRoute = {
  method: "GET",
  path: "/merchant/webhooks",
  answer: (context, { query }) => showWebhooks(context, { query }),
};

/** The page, also where something was not done. */
export async function showWebhooks(
  context: SignedIn,
  {
    query = {},
    typed,
    fault,
    urlFault,
    status,
  }: {
    query?: Input["query"];
    /** The URL that was typed. */
    typed?: string;
    /** Why something was not done. */
    fault?: string;
    /** The same of the URL, beside which it stands. */
    urlFault?: string;
    status?: number;
  },
): Promise<Page> {
  const { words, webhook } = context;
  const { webhooks: texts } = words;
  const main =
    webhook === null
      ? await firstUrl(context, { typed, urlFault })
      : html`<div class="cards">
${stateCard(context, webhook)}
${urlCard(context, { webhook, typed, urlFault })}
${secretCard(context, webhook)}
${replayCard(context, { webhook, query })}
</div>
${await webhookLog(context, query)}`;
  return {
    title: texts.title,
    description: texts.intro,
    ...(status === undefined ? {} : { status }),
    main: html`${pageHead(context, { title: texts.title, tab: "webhooks" })}
${notice(fault, "bad")}
${notice(doneText(context, query))}
${main}`,
  };
}

function doneText({ words, el }: SignedIn, { done, count, since }: Input["query"]): string | undefined {
  const { done: texts } = words.webhooks;
  if (done === "saved" || done === "enabled" || done === "finished") return texts[done];
  if (done !== "replayed" || typeof count !== "string" || !/^\d{1,4}$/.test(count)) return undefined;
  const text = texts.replayed(Number(count), el.integer(Number(count)));
  return since === undefined ? text : `${text} ${texts.more}`;
}

async function firstUrl(
  context: SignedIn,
  { typed = "", urlFault }: { typed?: string | undefined; urlFault: string | undefined },
): Promise<Html> {
  const { words, el, sales, session } = context;
  const { webhooks: texts } = words;
  const orders = (await sales.waitingOrdersOf(session.wallet)).filter(({ kind }) => kind === "webhook_url");
  const isPaid = orders.some(({ status }) => status === "paid");
  const fee = isPaid ? texts.first.isPaid : texts.first.fee(el.tokens(sales.webhookPriceWei));
  const submit = isPaid ? texts.first.submitPaid : texts.first.submit;
  return html`${waitingCards(context, orders)}
<section class="card"><h2>${texts.first.title}</h2>
<p>${texts.intro}</p>
${webhookForm(context, { url: typed, submit, fault: urlFault })}
<p class="hint">${fee}</p>
<p class="hint">${texts.first.listen}</p>
</section>`;
}

/** How it does, in words with what to do. */
function stateCard(context: SignedIn, webhook: WebhookRecord): Html {
  const { words, el } = context;
  const { state: texts } = words.webhooks;
  const { state, disabledWhy, disabledAt, failingSince } = webhook;
  const [kind, sign] = signs[state];
  const why = disabledWhy === "gone" ? texts.gone : texts.gaveUp;
  const says =
    state === "disabled"
      ? html`<p class="alarm">${why}</p><p>${texts.whatNow}</p>`
      : html`<p>${texts[state]}</p>`;
  const enable =
    state === "disabled"
      ? html`<form method="post" action="${el.to("merchant/webhooks/enable")}" data-once><button type="submit">${texts.enable}</button></form>`
      : html``;
  return html`<section class="card" aria-labelledby="state-title"><h2 id="state-title">${texts.title}</h2>
<p><span class="status ${kind}"><span aria-hidden="true">${sign}</span> ${texts.names[state]}</span></p>
${says}
${facts([
  [words.webhooks.url, html`<code class="long">${webhook.url}</code>`],
  [texts.created, moment(context, webhook.createdAt)],
  failingSince === null ? undefined : [texts.failingSince, moment(context, failingSince)],
  disabledAt === null ? undefined : [texts.disabledSince, moment(context, disabledAt)],
])}
<div class="actions">${enable}
<form method="post" action="${el.to("merchant/webhooks/test")}" data-once><button type="submit" class="quiet" aria-describedby="test-help">${texts.test}</button></form></div>
<p class="hint" id="test-help">${texts.testHelp}</p>
</section>`;
}

const signs = { active: ["success", "✓"], failing: ["failed", "!"], disabled: ["failed", "✗"] } as const;

function urlCard(
  context: SignedIn,
  {
    webhook,
    typed = webhook.url,
    urlFault,
  }: { webhook: WebhookRecord; typed?: string | undefined; urlFault: string | undefined },
): Html {
  const { webhooks: texts } = context.words;
  return html`<section class="card" aria-labelledby="url-title"><h2 id="url-title">${texts.changeTitle}</h2>
<p>${texts.changeHelp}</p>
${webhookForm(context, { url: typed, submit: texts.save, fault: urlFault })}
</section>`;
}

function secretCard(context: SignedIn, { rotatingUntil }: WebhookRecord): Html {
  const { words, el } = context;
  const { rotate: texts } = words.webhooks;
  const underway =
    rotatingUntil === null
      ? html`<p>${texts.why}</p>`
      : html`${facts([[texts.until, moment(context, rotatingUntil)]])}
<form method="post" action="${el.to("merchant/webhooks/finish")}" data-once><p class="actions"><button type="submit" class="quiet" aria-describedby="finish-help">${texts.finish}</button></p></form>
<p class="hint" id="finish-help">${texts.finishHelp}</p>`;
  return html`<section class="card" aria-labelledby="secret-title"><h2 id="secret-title">${words.webhooks.secret.secret}</h2>
${underway}
<p class="actions"><a class="button quiet" href="${el.to("merchant/webhooks/rotate")}">${texts.title}</a></p>
</section>`;
}

function replayCard(
  { words, el, now }: SignedIn,
  { webhook, query }: { webhook: WebhookRecord; query: Input["query"] },
): Html {
  const { replay: texts } = words.webhooks;
  const { disabledAt, failingSince } = webhook;
  const begun = disabledAt ?? failingSince;
  const since = begun === null ? new Date(now() - dayMs) : new Date(begun);
  const shown = toJakartaTime(fromJakartaTime(query["since"]) ?? since);
  const form = html`<form class="order-form" method="post" action="${el.to("merchant/webhooks/replay")}" data-once>
<div class="fields"><label for="since">${texts.since}</label>
<input id="since" name="since" type="datetime-local" value="${shown}" required></div>
<p class="actions"><button type="submit" class="quiet">${texts.submit}</button></p></form>`;
  return html`<section class="card" aria-labelledby="replay-title"><h2 id="replay-title">${texts.title}</h2>
<p>${texts.help}</p>
${webhook.state === "disabled" ? html`<p class="note">${texts.disabled}</p>` : form}
</section>`;
}
