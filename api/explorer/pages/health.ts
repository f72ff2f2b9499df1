import { z } from "zod";
import { facts, table } from "../../../lib/web/elements/table.ts";
import { type Html, html } from "../../../lib/web/html.ts";
import { type RecentBlock, readRecentBlocks } from "../../read/recent-blocks.ts";
import type { ChainRecord } from "../../records/chain.ts";
import { bars } from "../elements/bars.ts";
import type { PageContext } from "../page.ts";
import { pageRoute } from "../page-route.ts";

const blocksLooked = 100;
/** A validator that sealed or proposed none of so many is taken for away. */
const aliveBlocks = 10;
const histogramSecondsMax = 10;

export const health = pageRoute({
  path: "/network/health",
  entry: "network",
  params: z.object({}),
  query: z.object({}),
  async render(context) {
    const { texts, read } = context;
    const { health: words } = texts;
    const [chain, { validators }, blocks] = await Promise.all([
      read.chain(),
      read.consensus(),
      readRecentBlocks(read.db, blocksLooked),
    ]);
    const newest = blocks.slice(-aliveBlocks);
    const alive = validators.filter((address) =>
      newest.some(({ proposer, sealedBy }) => proposer === address || sealedBy.includes(address)),
    );
    return {
      title: words.title,
      description: words.intro,
      refreshSeconds: 5,
      live: "count",
      main: html`<div class="intro"><h1>${words.title}</h1><p>${words.intro}</p></div>
${stateCard(context, chain, { alive: alive.length, all: validators.length })}
${validators.length === 0 ? html`` : validatorCard(context, { validators, alive, blocks })}
${validators.length === 0 ? html`` : roundCard(context, blocks)}
${histogramCard(context, blocks)}`,
    };
  },
});

function stateCard(
  { texts, el, now }: PageContext,
  chain: ChainRecord,
  { alive, all }: { alive: number; all: number },
): Html {
  const { health: words } = texts;
  const ageSeconds = Math.max(0, Math.round(now() / 1000 - chain.timestampUnix));
  const state = chain.stalled
    ? html`<p class="alarm" role="alert">${words.stalled(el.integer(ageSeconds))}</p><p>${words.stalledStep}</p>`
    : html`<p>${words.goesOn}</p>`;
  const spare = Math.max(0, alive - chain.quorum);
  return html`<section class="card"><h2>${words.state}</h2>
${state}
${
  all === 0
    ? html`<p>${words.dev}</p>`
    : html`${facts([
        [words.sealing, texts.units.of(el.integer(alive), el.integer(all))],
        [words.quorum, texts.block.quorumOf(chain.quorum, all)],
      ])}<p class="${spare === 0 ? "alarm" : "note"}">${words.edge(spare)}</p>`
}
</section>`;
}

function validatorCard(
  { texts, el }: PageContext,
  {
    validators,
    alive,
    blocks,
  }: { validators: readonly string[]; alive: readonly string[]; blocks: readonly RecentBlock[] },
): Html {
  const { health: words } = texts;
  const lastOf = (matches: (block: RecentBlock) => boolean) => {
    const last = blocks.findLast(matches);
    return last === undefined ? words.never : el.blockLink(last.number);
  };
  return html`<section class="card"><h2>${texts.home.validators}</h2>
${table<string>({
  caption: words.seenBlocks,
  rows: validators,
  columns: [
    { title: texts.validators.name, cell: (address) => el.addressLink(address) },
    {
      title: words.state,
      cell: (address) =>
        alive.includes(address)
          ? html`<span class="status success"><span aria-hidden="true">✓</span> ${words.alive}</span>`
          : html`<span class="status failed"><span aria-hidden="true">✗</span> ${words.silent}</span>`,
    },
    {
      title: words.lastSealed,
      number: true,
      cell: (address) => lastOf(({ sealedBy }) => sealedBy.includes(address)),
    },
    {
      title: words.lastProposed,
      number: true,
      cell: (address) => lastOf(({ proposer }) => proposer === address),
    },
  ],
})}
</section>`;
}

function roundCard({ texts, el }: PageContext, blocks: readonly RecentBlock[]): Html {
  const { health: words } = texts;
  const late = blocks.filter(({ round }) => (round ?? 0) > 0);
  if (late.length === 0)
    return html`<section class="card"><h2>${words.rounds}</h2><p>${words.noRounds}</p></section>`;
  return html`<section class="card"><h2>${words.rounds}</h2><p>${words.roundsSome(late.length)}</p>
${table<RecentBlock>({
  caption: words.rounds,
  rows: late.toReversed().slice(0, 20),
  columns: [
    { title: texts.blocks.number, cell: ({ number }) => el.blockLink(number) },
    { title: texts.block.round, number: true, cell: ({ round }) => String(round ?? 0) },
    { title: texts.blocks.proposer, cell: ({ proposer }) => el.addressLink(proposer) },
  ],
})}
</section>`;
}

function histogramCard({ texts }: PageContext, blocks: readonly RecentBlock[]): Html {
  const { health: words } = texts;
  const counts = Array.from({ length: histogramSecondsMax + 1 }, () => 0);
  for (const { seconds } of blocks) {
    if (seconds === null) continue;
    const at = Math.min(seconds, histogramSecondsMax);
    counts[at] = (counts[at] ?? 0) + 1;
  }
  const rows = counts.map((count, seconds) => ({
    seconds: seconds === histogramSecondsMax ? `≥ ${seconds}` : String(seconds),
    count,
  }));
  return html`<section class="card"><h2>${words.histogram}</h2>
${bars({
  label: words.histogramCaption,
  barsMin: 0,
  data: rows.map(({ seconds, count }) => ({
    value: count,
    title: `${texts.units.seconds(seconds)}: ${count}`,
  })),
})}
<details><summary>${words.histogramCaption}</summary>
${table<(typeof rows)[number]>({
  caption: words.histogramCaption,
  rows: rows.filter(({ count }) => count > 0),
  columns: [
    { title: words.histogramSeconds, cell: ({ seconds }) => seconds },
    { title: words.histogramBlocks, number: true, cell: ({ count }) => String(count) },
  ],
})}
</details>
</section>`;
}
