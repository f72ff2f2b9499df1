import { type Html, html } from "../../../lib/web/html.ts";
import type { RecentBlock } from "../../read/recent-blocks.ts";
import type { PageContext } from "../page.ts";
import { bars } from "./bars.ts";

/** As many colours as the style sheet has for proposers. */
const colours = 8;

/** A bar a block in its proposer's colour, with the names of the colours; one of a later round is higher. */
export function proposerStrip(
  { texts, el }: PageContext,
  blocks: readonly RecentBlock[],
  validators: readonly string[],
): Html {
  // In the order of turns, which is that of the bytes.
  const order = validators.toSorted((one, other) => (one.toLowerCase() < other.toLowerCase() ? -1 : 1));
  const chart = bars({
    label: texts.validators.strip,
    max: 3,
    data: blocks.map(({ number, proposer, round }) => ({
      value: 1 + Math.min(2, round ?? 0),
      title: `${texts.block.title(el.integer(number))}: ${el.nameOf(proposer)}`,
      className: colourOf(order.indexOf(proposer)),
    })),
  });
  return html`${chart}
<ul class="legend">${order.map((address, index) => html`<li class="${colourOf(index)}"><span class="swatch" aria-hidden="true"></span>${el.addressLink(address)}</li>`)}</ul>
<p class="soft">${texts.validators.stripHelp}</p>`;
}

/** Whoever is no validator any more has none. */
function colourOf(index: number): string {
  return index === -1 ? "proposer-gone" : `proposer-${index % colours}`;
}
