import { type Html, html } from "../../../../lib/web/html.ts";
import type { InvoiceHistory } from "../../invoices/invoice-history.ts";
import { type InvoiceRecord, paymentsToldMax } from "../../invoices/invoice-record.ts";
import type { DeliveryRecord } from "../../webhooks/delivery-record.ts";
import { moment } from "../elements.ts";
import type { SignedIn } from "../merchant-page.ts";
import { inRupiah } from "./invoice-elements.ts";
import { outcomeText } from "./webhooks/delivery-words.ts";

type Entry = { at: string; text: string | Html; more?: Html };

/** What happened to an invoice, in its order. */
export function timelineCard(
  context: SignedIn,
  { invoice, history }: { invoice: InvoiceRecord; history: InvoiceHistory },
): Html {
  const { timeline: texts } = context.words.invoices;
  const entries = [
    ...made(context, { invoice, history }),
    ...invoice.payments.map((payment) => arrived(context, { invoice, payment })),
    ...ends(context, { invoice, history }),
    ...history.deliveries.map((delivery) => told(context, delivery)),
  ];
  // Of what happened at the same second the order above is the order in which it did.
  const items = entries
    .toSorted((one, other) => Date.parse(one.at) - Date.parse(other.at))
    .map(
      ({ at, text, more }) =>
        html`<li><p><strong>${text}</strong> <span class="soft">${moment(context, at)}</span></p>${more ?? html``}</li>`,
    );
  const cut = invoice.payments.length < paymentsToldMax ? html`` : html`<p class="hint">${texts.more}</p>`;
  return html`<section class="card" aria-labelledby="timeline-title"><h2 id="timeline-title">${texts.title}</h2>
<div id="timeline"><ol class="timeline">${items}</ol>${cut}</div></section>`;
}

function made(
  { words }: SignedIn,
  { invoice, history: { madeBy } }: { invoice: InvoiceRecord; history: InvoiceHistory },
): Entry[] {
  const { timeline: texts } = words.invoices;
  const text =
    madeBy === null ? texts.created : texts.createdBy(madeBy.label === "" ? madeBy.hint : madeBy.label);
  return [{ at: invoice.createdAt, text }];
}

function arrived(
  context: SignedIn,
  { invoice, payment }: { invoice: InvoiceRecord; payment: InvoiceRecord["payments"][number] },
): Entry {
  const { words, el } = context;
  const { timeline: texts } = words.invoices;
  const { amountWei, way, payer, txHash, at } = payment;
  const isLate = Date.parse(at) > Date.parse(invoice.expiresAt);
  const from = payer === null ? html`${texts.fromUnknown}` : html`${texts.from} ${el.addressLink(payer)}`;
  const transaction = txHash === null ? html`` : html` · ${el.transactionLink(txHash)}`;
  return {
    at,
    text: texts.payment(inRupiah(context, invoice, amountWei)),
    more: html`<p class="soft">${texts.ways[way]}, ${from}${transaction}${isLate ? html` · <strong>${texts.late}</strong>` : html``}</p>`,
  };
}

/** How it was completed, ran out, was canceled, and was passed on. */
function ends(
  { words, now }: SignedIn,
  { invoice, history }: { invoice: InvoiceRecord; history: InvoiceHistory },
): Entry[] {
  const { timeline: texts } = words.invoices;
  const { paidAt, expiresAt, state } = invoice;
  const isOver = state !== "open" && Date.parse(expiresAt) <= now();
  const ranOut = isOver && (paidAt === null || Date.parse(paidAt) > Date.parse(expiresAt));
  const isCollected = history.collectedAt !== null && history.passedOnWei !== "0";
  return [
    ...(paidAt === null ? [] : [{ at: paidAt, text: texts.complete }]),
    ...(ranOut && history.canceledAt === null ? [{ at: expiresAt, text: texts.expired }] : []),
    ...(history.canceledAt === null ? [] : [{ at: history.canceledAt, text: texts.canceled }]),
    ...(isCollected ? [{ at: history.collectedAt ?? invoice.createdAt, text: texts.collected }] : []),
  ];
}

/** What a webhook was told, which leads to what was sent and answered. */
function told(context: SignedIn, delivery: DeliveryRecord): Entry {
  const { words, el } = context;
  const { timeline: texts } = words.invoices;
  const { eventId, state, attempts, deliveredAt, createdAt, lastStatus, lastError } = delivery;
  const tried = attempts === 0 ? "" : `, ${texts.attempts(attempts, el.integer(attempts))}`;
  const last = outcomeText(context, { status: lastStatus, error: lastError });
  const why = state === "delivered" || attempts === 0 ? "" : `: ${last}`;
  return {
    at: deliveredAt ?? createdAt,
    text: texts.delivery(delivery.type),
    more: html`<p class="soft">${el.link(`merchant/webhooks/events/${eventId}`, texts.deliveries[state])}${tried}${why}</p>`,
  };
}
