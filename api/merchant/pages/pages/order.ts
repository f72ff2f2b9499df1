import { isRefusal } from "../../../../lib/http-service/refusal.ts";
import { network } from "../../../../lib/network.ts";
import { copyable } from "../../../../lib/web/elements/copyable.ts";
import { stepItems } from "../../../../lib/web/elements/steps.ts";
import { facts } from "../../../../lib/web/elements/table.ts";
import { type Html, html } from "../../../../lib/web/html.ts";
import type { Page } from "../../../explorer/page.ts";
import { transactionHash } from "../../../rest/parameters.ts";
import type { AnyOrderRecord } from "../../orders/order-record.ts";
import { findSentPayment, noPayment, type SentPayment } from "../../sent-payment.ts";
import { message, moment, pageHead } from "../elements.ts";
import type { MerchantRoute, SignedIn } from "../merchant-page.ts";
import { orderKind } from "./order-kind.ts";
import { networkData } from "./sign-in.ts";

/** An order: paying it, and how the payment stands. The script asks for this page again and again, and puts parts of it in. */
export const order: MerchantRoute = {
  method: "GET",
  path: "/merchant/orders/:id",
  async answer(context, { params: { id = "" }, query }) {
    const { sales, session } = context;
    const found = await sales.findOrder(session.wallet, id);
    if (isRefusal(found)) return missingOrder(context);
    if (await isPaidOtherwise(context, found)) {
      const { title, feePaid } = context.words.webhooks.order;
      return message(context, { title, help: feePaid, status: 409, path: "merchant/webhooks" });
    }
    const hash = transactionHash.safeParse(query["tx"]);
    const isUnpaid = found.status === "open" || found.status === "expired";
    const payment =
      isUnpaid && hash.success
        ? await findSentPayment(context, { hash: hash.data, isOurs: isPaymentOf(found) })
        : noPayment;
    // What was sent in time is booked a moment later, when the order may have run out.
    const isComing = payment.state === "sent" || payment.state === "mined";
    return orderPage(context, { order: isComing ? { ...found, status: "open" } : found, payment });
  },
};

/** A webhook's fee is paid once, and another order of it may be open still. */
async function isPaidOtherwise(
  { sales, session }: SignedIn,
  { kind, status }: AnyOrderRecord,
): Promise<boolean> {
  return kind === "webhook_url" && status === "open" && (await sales.isWebhookPaid(session.wallet));
}

export function missingOrder(context: SignedIn): Page {
  const { missing, missingHelp } = context.words.order;
  return message(context, { title: missing, help: missingHelp, status: 404, path: "merchant/keys" });
}

function isPaymentOf({ contract, transaction }: AnyOrderRecord) {
  return ({ to, input }: { to: string | null; input: string }): boolean =>
    to === contract && (transaction === null || input === transaction.data);
}

function orderPage(
  context: SignedIn,
  { order: shown, payment }: { order: AnyOrderRecord; payment: SentPayment },
): Page {
  const { order: texts } = context.words;
  const { title, lastStep, tab } = orderKind(context, shown);
  return {
    title,
    description: context.words.intro,
    main: html`${pageHead(context, { title, tab })}
<div class="cards">
<section class="card" id="order" data-status="${shown.status}" data-payment="${payment.state}"${payData(context, shown)}>
<ol class="steps" id="steps">${stepItems(steps(context, lastStep), stepOf(shown, payment), { endsAtLast: shown.status === "used" })}</ol>
<div id="state" role="status">${stateOf(context, { order: shown, payment })}</div>
<div id="actions">${actionsOf(context, { order: shown, payment })}</div>
<ul class="wallets" id="wallets"></ul>
<p class="outcome" id="outcome" role="status"></p>
</section>
<section class="card" aria-labelledby="facts"><h2 id="facts">${texts.facts}</h2>
<div id="order-facts">${orderFacts(context, { order: shown, payment })}</div>
${withoutWallet(context, shown)}
</section>
</div>`,
  };
}

/** What the script pays with, and from which account. */
function payData(context: SignedIn, { amountWei, transaction }: AnyOrderRecord): Html {
  const { session, el, settings } = context;
  return html` data-wallet="${session.wallet}" data-amount="${el.tokens(amountWei)}" data-faucet="${settings.faucetUrl}" data-transaction="${JSON.stringify(transaction)}"${networkData(context)}`;
}

function steps({ words: { order: texts } }: SignedIn, last: string): { key: string; name: string }[] {
  const first = (["made", "pay", "booked"] as const).map((key) => ({ key, name: texts.steps[key] }));
  return [...first, { key: "taken", name: last }];
}

/** The step that it is at. */
function stepOf({ status }: AnyOrderRecord, payment: SentPayment): string {
  if (status === "used" || status === "paid") return "taken";
  return payment.state === "mined" ? "booked" : "pay";
}

function stateOf(
  context: SignedIn,
  { order: shown, payment }: { order: AnyOrderRecord; payment: SentPayment },
): Html {
  const { words, el } = context;
  const { says } = words.order;
  const { says: own } = orderKind(context, shown);
  const line = (text: string, more = "") =>
    html`<p class="lead">${text}</p>${more === "" ? html`` : html`<p>${more}</p>`}`;
  if (shown.status === "used") return line(own.used, own.usedHelp);
  if (shown.status === "paid") return line(own.paid);
  if (shown.status === "expired" && payment.state === "none") return line(says.expired);
  if (payment.state === "reverted") {
    const why = Object.entries(words.order.errors).find(([name]) => name === payment.error)?.[1] ?? "";
    return html`<p class="error" role="alert">${says.reverted} ${why}</p>${line(says.open(el.tokens(shown.amountWei)))}`;
  }
  return payment.state === "none" ? line(says.open(el.tokens(shown.amountWei))) : line(says[payment.state]);
}

function actionsOf(
  context: SignedIn,
  { order: shown, payment }: { order: AnyOrderRecord; payment: SentPayment },
): Html {
  const { words, el } = context;
  const { order: texts } = words;
  const { take, back, again } = orderKind(context, shown);
  const link = ({ path, text }: { path: string; text: string }) =>
    html`<a class="button" href="${el.to(path)}">${text}</a>`;
  if (shown.status === "used") return html`<p class="actions">${link(back)}</p>`;
  if (shown.status === "expired") return html`<p class="actions">${link(again)}</p>`;
  if (shown.status === "paid") {
    return html`<form method="post" action="${el.to(`merchant/orders/${shown.id}/${take.path}`)}" data-once><p class="actions"><button type="submit">${take.text}</button></p></form>`;
  }
  const look = html`<noscript><p class="note">${texts.needsScripts}</p><p class="actions"><a class="button quiet" href="${el.to(`merchant/orders/${shown.id}`)}">${texts.look}</a></p></noscript>`;
  if (payment.state !== "none" && payment.state !== "reverted") return look;
  return html`<p class="actions"><button type="button" id="pay" hidden>${texts.pay(el.tokens(shown.amountWei))}</button></p>${look}`;
}

function orderFacts(
  context: SignedIn,
  { order: shown, payment }: { order: AnyOrderRecord; payment: SentPayment },
): Html {
  const { words, el } = context;
  const { order: texts } = words;
  const hash = shown.paidTxHash ?? (payment.state === "none" ? null : payment.hash);
  return facts([
    [texts.price, texts.priceOf(el.tokens(shown.amountWei), el.tokens(shown.burnedWei))],
    ...orderKind(context, shown).facts,
    shown.status === "open" ? [texts.payBefore, moment(context, shown.validUntil)] : undefined,
    [texts.contract, el.addressLink(shown.contract)],
    hash === null ? undefined : [texts.transaction, el.transactionLink(hash)],
    [texts.number, html`<code class="long">${shown.id}</code>`],
  ]);
}

/** For who pays by a program, or by a wallet that is no part of this browser. */
function withoutWallet({ words: { order: texts } }: SignedIn, { transaction }: AnyOrderRecord): Html {
  if (transaction === null) return html``;
  const { to, value, data } = transaction;
  const wei = BigInt(value).toString();
  return html`<details><summary>${texts.withoutWallet}</summary>
<p>${texts.withoutWalletHelp} (${network.chainName}, ${String(network.chainId)})</p>
${facts([
  [texts.to, copyable(to, html`<code class="long">${to}</code>`, texts.to)],
  [texts.value, copyable(wei, html`<code class="long">${wei}</code>`, texts.value)],
  [texts.data, copyable(data, html`<code class="long data">${data}</code>`, texts.data)],
])}
</details>`;
}
