import { burnBasisPoints } from "../../../../lib/fee-collector/split-fee.ts";
import { type Html, html } from "../../../../lib/web/html.ts";
import type { KeyPackage } from "../key-sales.ts";
import type { MerchantContext } from "../merchant-page.ts";

const basisPoints = 10_000;

/** What a package costs, and for how long. */
export function packageFacts({ words: { packages }, el }: MerchantContext, offer: KeyPackage): Html {
  const { name, days, amountWei } = offer;
  const perDay = BigInt(amountWei) / BigInt(days);
  // Two digits say it: nobody pays by the day.
  const rounded = (perDay / 10n ** 16n) * 10n ** 16n;
  return html`<span class="package-name">${packages.names[name]}</span>
<strong>${el.tokens(amountWei)}</strong>
<span class="soft">${packages.days(el.integer(days))} · ${packages.perDay(el.tokens(String(rounded)))}</span>`;
}

/** The packages, to look at. */
export function packageCards(context: MerchantContext): Html {
  const { words, el, sales } = context;
  return html`<section class="card" aria-labelledby="packages">
<h2 id="packages">${words.packages.title}</h2>
<ul class="packages">${sales.packages.map((offer) => html`<li class="package">${packageFacts(context, offer)}</li>`)}</ul>
<p class="hint">${words.packages.burned(el.percent(burnBasisPoints / basisPoints))} ${words.packages.all(sales.activeKeysMax)}</p>
</section>`;
}
