import { type Html, html } from "../../../../../lib/web/html.ts";
import type { DeliveryRecord } from "../../../webhooks/delivery-record.ts";
import { sendFailureOf } from "../../../webhooks/explain-send-failure.ts";
import type { MerchantContext } from "../../merchant-page.ts";

type Outcome = { status: number | null; error: string | null };

/** What became of an event, by word and sign. */
export function deliveryState({ words }: MerchantContext, delivery: DeliveryRecord): Html {
  const { states, underway } = words.webhooks.log;
  const isFirst = delivery.state === "waiting" && delivery.lastStatus === null && delivery.lastError === null;
  const [kind, sign] = signs[delivery.state];
  return html`<span class="status ${kind}"><span aria-hidden="true">${sign}</span> ${isFirst ? underway : states[delivery.state]}</span>`;
}

const signs = {
  waiting: ["pending", "…"],
  delivered: ["success", "✓"],
  dead: ["failed", "✗"],
  dropped: ["pending", "–"],
} as const;

/** The status that was answered, or why nothing was. The words of a log that no text is known for are shown as they are. */
export function outcomeText({ words }: MerchantContext, { status, error }: Outcome): string {
  if (error !== null) {
    const failure = sendFailureOf(error);
    return failure === undefined ? error : words.webhooks.failures[failure];
  }
  return status === null ? "–" : String(status);
}

/** What a status says, and what to do; empty where it is well. */
export function statusHint({ words }: MerchantContext, { status, error }: Outcome): string {
  const { hints } = words.webhooks.event;
  if (status === null || error !== null || (status >= 200 && status < 300)) return "";
  if (status >= 300 && status < 400) return hints.redirect;
  return hints[hintOf[status] ?? (status >= 500 ? "failed" : "other")];
}

const hintOf: Readonly<Record<number, "refused" | "missing" | "method" | "gone" | "slowDown">> = {
  401: "refused",
  403: "refused",
  404: "missing",
  405: "method",
  410: "gone",
  429: "slowDown",
};
