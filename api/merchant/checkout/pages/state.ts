import { facts } from "../../../../lib/web/elements/table.ts";
import { type Html, html } from "../../../../lib/web/html.ts";
import type { SentPayment } from "../../sent-payment.ts";
import type { CheckoutContext } from "../checkout-page.ts";
import type { CustomerInvoice } from "../customer-invoice.ts";
import { stateText } from "../elements.ts";

/** The colour of a state, beside its words. */
const tones: Readonly<Record<CustomerInvoice["phase"], "good" | "bad" | "due">> = {
  ...{ waiting: "due", short: "due", ending: "due" },
  ...{ paid: "good", overpaid: "good", late: "due" },
  ...{ shortOver: "bad", expired: "bad", canceled: "bad", otherChain: "bad" },
};

/** How it stands, and what to do next. It is read out when it changes. */
export function stateCard(
  context: CheckoutContext,
  { shown, sent }: { shown: CustomerInvoice; sent: SentPayment },
): Html {
  const badge = isUnderWay({ shown, sent }) ? context.words.states.sending : stateText(context, shown);
  return html`<div id="state" role="status"><p class="badge" data-tone="${tones[shown.phase]}">${badge}</p>
${nextStep(context, { shown, sent })}</div>`;
}

/** Whether what is missing may be there already. */
function isUnderWay({ shown: { phase }, sent }: { shown: CustomerInvoice; sent: SentPayment }): boolean {
  const isDue = phase === "waiting" || phase === "short" || phase === "ending";
  return isDue && (sent.state === "sent" || sent.state === "mined");
}

function nextStep(
  { words, el }: CheckoutContext,
  { shown: { phase, isFollowed }, sent }: { shown: CustomerInvoice; sent: SentPayment },
): Html {
  const { next } = words;
  const isDue = phase === "waiting" || phase === "short" || phase === "ending";
  const payment =
    sent.state === "none"
      ? html``
      : facts([[words.sent.transaction, el.transactionLink(sent.hash)]], { inPairs: true });
  if (isDue && sent.state !== "none" && sent.state !== "reverted")
    return html`<p class="lead">${words.sent[sent.state]}</p>${payment}`;
  const lead = html`<p class="lead">${isDue && !isFollowed ? next.notFollowed : next[phase]}</p>`;
  if (sent.state !== "reverted") return lead;
  const why = Object.entries(words.sent.errors).find(([name]) => name === sent.error)?.[1] ?? "";
  return html`<p class="error" role="alert">${words.sent.reverted} ${why}</p>${payment}${lead}`;
}
