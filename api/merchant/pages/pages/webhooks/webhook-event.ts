import type { z } from "zod";
import { isRefusal } from "../../../../../lib/http-service/refusal.ts";
import { copyable } from "../../../../../lib/web/elements/copyable.ts";
import { facts } from "../../../../../lib/web/elements/table.ts";
import { type Html, html } from "../../../../../lib/web/html.ts";
import type { Page } from "../../../../explorer/page.ts";
import { idOf } from "../../../public-id.ts";
import type { attemptRecord, deliveryDetails } from "../../../webhooks/delivery-record.ts";
import { message, moment, notice, pageHead } from "../../elements.ts";
import type { Input, MerchantRoute, SignedIn } from "../../merchant-page.ts";
import { deliveryState, outcomeText, statusHint } from "./delivery-words.ts";
import { shownBytes } from "./shown-bytes.ts";

type Delivery = z.output<typeof deliveryDetails>;
type Attempt = z.output<typeof attemptRecord>;

/** Of the fifty that are told to programs, so that the page stays light. */
const attemptsShownMax = 10;

/** One event: what of it was sent, and what was answered each time. */
export const webhookEvent: MerchantRoute = {
  method: "GET",
  path: "/merchant/webhooks/events/:id",
  async answer(context, { params: { id = "" }, query }) {
    const { webhooks, webhook, session } = context;
    const eventId = idOf("evt").safeParse(id);
    if (!eventId.success) return missingEvent(context);
    const found = await webhooks.delivery(session.wallet, eventId.data);
    if (isRefusal(found)) return missingEvent(context);
    return eventPage(context, { delivery: found, query, canSend: webhook?.disabledAt === null });
  },
};

export function missingEvent(context: SignedIn): Page {
  const { missing, missingHelp } = context.words.webhooks.event;
  return message(context, { title: missing, help: missingHelp, status: 404, path: "merchant/webhooks" });
}

function eventPage(
  context: SignedIn,
  { delivery, query, canSend }: { delivery: Delivery; query: Input["query"]; canSend: boolean },
): Page {
  const { words, el } = context;
  const { event: texts, log, title: home } = words.webhooks;
  const title = texts.title(el.integer(delivery.sequence));
  const done = doneText(context, { query, delivery });
  const again = html`<form method="post" action="${el.to(`merchant/webhooks/events/${delivery.eventId}/replay`)}" data-once><p class="actions"><button type="submit" class="quiet">${texts.again}</button></p></form>`;
  return {
    title,
    description: words.webhooks.intro,
    main: html`${pageHead(context, { title, tab: "webhooks" })}
<p>${el.link("merchant/webhooks", `← ${home}`)}</p>
${notice(done?.text, done?.kind)}
<section class="card">
${facts([
  [log.event, html`${log.types[delivery.type]} <code>${delivery.type}</code>`],
  [texts.state, deliveryState(context, delivery)],
  delivery.nextAttemptAt === null || delivery.log.length === 0
    ? undefined
    : [texts.next, moment(context, delivery.nextAttemptAt)],
  delivery.deliveredAt === null ? undefined : [texts.delivered, moment(context, delivery.deliveredAt)],
  [log.at, moment(context, delivery.createdAt)],
  [texts.id, copyable(delivery.eventId, html`<code class="long">${delivery.eventId}</code>`, texts.id)],
])}
${canSend ? again : html``}
</section>
<section class="card" aria-labelledby="body"><h2 id="body">${texts.body}</h2>
<p>${texts.bodyHelp}</p>
<pre class="raw" tabindex="0">${shownBytes(delivery.body)}</pre>
</section>
<section class="card" aria-labelledby="attempts"><h2 id="attempts">${texts.attempts}</h2>
${attemptsOf(context, delivery)}
</section>`,
  };
}

function doneText(
  { words }: SignedIn,
  { query: { done }, delivery }: { query: Input["query"]; delivery: Delivery },
): { text: string; kind: "good" | "bad" } | undefined {
  const { done: texts } = words.webhooks;
  if (done === "again" || done === "underway") return { text: texts[done], kind: "good" };
  if (done !== "tested" || delivery.type !== "webhook.test") return undefined;
  return delivery.state === "delivered"
    ? { text: texts.testDelivered, kind: "good" }
    : { text: texts.testFailed, kind: "bad" };
}

function attemptsOf(context: SignedIn, { log, eventId }: Delivery): Html {
  const { event: texts } = context.words.webhooks;
  if (log.length === 0) return html`<p class="empty">${texts.noAttempts}</p>`;
  const earlier =
    log.length > attemptsShownMax ? html`<p class="hint">${texts.earlier(eventId)}</p>` : html``;
  return html`<p class="hint">${texts.newest}</p>
${log.slice(0, attemptsShownMax).map((attempt) => attemptPart(context, attempt))}
${earlier}`;
}

function attemptPart(context: SignedIn, attempt: Attempt): Html {
  const { words, el } = context;
  const { event: texts } = words.webhooks;
  const hint = statusHint(context, attempt);
  const status = attempt.status === null ? "" : `${attempt.status} `;
  const outcome = attempt.error === null ? status : `${status}${outcomeText(context, attempt)}`;
  return html`<article class="attempt">
<h3>${texts.attempt(el.integer(attempt.number))}</h3>
<p class="soft">${moment(context, attempt.at)} · ${texts.took(el.integer(attempt.tookMs))}</p>
<h4>${texts.request}</h4>
${requestOf(context, attempt)}
<h4>${texts.answer}</h4>
<p><strong>${outcome}</strong></p>
${hint === "" ? html`` : html`<p>${hint}</p>`}
${answerOf(context, attempt)}
</article>`;
}

function requestOf({ words }: SignedIn, { request }: Attempt): Html {
  if (request === null) return html`<p class="note">${words.webhooks.event.notKept}</p>`;
  const lines = Object.entries(request.headers).map(([name, value]) => `${name}: ${value}`);
  return html`<pre class="raw" tabindex="0">${shownBytes([`POST ${request.url}`, ...lines].join("\n"))}</pre>`;
}

function answerOf({ words }: SignedIn, { status, answerStart }: Attempt): Html {
  const { event: texts } = words.webhooks;
  if (status === null) return html`<p class="note">${texts.noAnswer}</p>`;
  if (answerStart === "") return html`<p class="note">${texts.emptyAnswer}</p>`;
  return html`<pre class="raw" tabindex="0">${shownBytes(answerStart)}</pre>
<p class="hint">${texts.answerHelp}</p>`;
}
