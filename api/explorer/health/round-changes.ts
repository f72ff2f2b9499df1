import { table } from "../../../lib/web/elements/table.ts";
import { type Html, html } from "../../../lib/web/html.ts";
import type { RecentBlock } from "../../read/recent-blocks.ts";
import type { PageContext } from "../page.ts";

const roundsShown = 20;

/** Blocks that took more than one round, and whose turns passed. */
export function roundCard({ texts, el }: PageContext, blocks: readonly RecentBlock[]): Html {
  const { health: words } = texts;
  const late = blocks.filter(({ round }) => (round ?? 0) > 0);
  if (late.length === 0)
    return html`<section class="card"><h2>${words.rounds}</h2><p>${words.noRounds}</p></section>`;
  return html`<section class="card"><h2>${words.rounds}</h2><p>${words.roundsSome(late.length, blocks.length)}</p>
${table<RecentBlock>({
  caption: words.rounds,
  rows: late.toReversed().slice(0, roundsShown),
  columns: [
    { title: texts.blocks.number, cell: ({ number }) => el.blockLink(number) },
    { title: texts.block.round, number: true, cell: ({ round }) => String(round ?? 0) },
    { title: texts.blocks.proposer, cell: ({ proposer }) => el.addressLink(proposer) },
    {
      title: texts.block.missedTurns,
      cell: ({ missed }) =>
        html`<ul class="names">${missed.map((address) => html`<li>${el.addressLink(address)}</li>`)}</ul>`,
    },
  ],
})}
</section>`;
}
