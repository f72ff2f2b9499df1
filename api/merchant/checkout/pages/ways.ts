import { renderSVG } from "uqr";
import { network } from "../../../../lib/network.ts";
import { copyable } from "../../../../lib/web/elements/copyable.ts";
import { facts } from "../../../../lib/web/elements/table.ts";
import { type Html, html } from "../../../../lib/web/html.ts";
import { tokensOf } from "../../orders/order-record.ts";
import type { CheckoutContext } from "../checkout-page.ts";
import type { CustomerInvoice } from "../customer-invoice.ts";
import { dueOf } from "../rupiah-of.ts";

/** Light around the code, in modules; ISO/IEC 18004 wants four. */
const quietZone = 4;

/** Paying by a wallet that is no part of this browser: a code to scan, or address and amount to copy. */
export function ways(context: CheckoutContext, { invoice }: CustomerInvoice): Html {
  const { words, el } = context;
  const { ways: texts } = words;
  const [rpcUrl] = context.network.rpcUrls;
  const due = dueOf(invoice);
  const shownAmount = el.tokens(String(due));
  const uri = paymentUri({ box: invoice.box, due });
  return html`<section class="card" aria-labelledby="scan">
<h2 id="scan">${texts.scan}</h2>
<div class="code" role="img" aria-label="${texts.code(shownAmount, invoice.box)}" data-uri="${uri}">${codeOf(uri)}</div>
<p>${texts.scanHow(network.chainName)}</p>
</section>
<section class="card" aria-labelledby="copy">
<h2 id="copy">${texts.copy}</h2>
<p>${texts.copyHow}</p>
${facts([
  // With a point, as wallets take it.
  [texts.amount, copyable(tokensOf(due), html`<strong>${shownAmount}</strong>`, texts.amount)],
  [texts.address, copyable(invoice.box, html`<code class="long">${invoice.box}</code>`, texts.address)],
  [texts.network, `${network.chainName} (${texts.chainId(String(network.chainId))})`],
  rpcUrl === undefined
    ? undefined
    : [texts.rpc, copyable(rpcUrl, html`<code class="long">${rpcUrl}</code>`, texts.rpc)],
])}
</section>`;
}

/** EIP-681: a plain transfer of so many wei. */
export function paymentUri({ box, due }: { box: string; due: bigint }): string {
  return `ethereum:${box}@${network.chainId}?value=${due}`;
}

/** Black on white in every colour scheme, or cameras do not find it. */
function codeOf(uri: string): Html {
  return { text: renderSVG(uri, { border: quietZone, ecc: "M" }) };
}
