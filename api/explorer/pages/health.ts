import { z } from "zod";
import { facts, table } from "../../../lib/web/elements/table.ts";
import { type Html, html } from "../../../lib/web/html.ts";
import { type RecentBlock, readRecentBlocks } from "../../read/recent-blocks.ts";
import type { ValidatorHead } from "../../read/validator-heads.ts";
import { whileAway } from "../../read/while-away.ts";
import type { ChainRecord } from "../../records/chain.ts";
import { bars } from "../elements/bars.ts";
import { proposerStrip } from "../elements/proposer-strip.ts";
import { type NetworkStanding, standingOf } from "../network-standing.ts";
import type { PageContext } from "../page.ts";
import { pageRoute } from "../page-route.ts";

const blocksLooked = 100;
const histogramSecondsMax = 10;
const roundsShown = 20;

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
      whileAway(readRecentBlocks(read.db, blocksLooked), undefined),
    ]);
    const heads = await read.validatorHeads(chain.genesisHash);
    const standing = standingOf({ validators, quorum: chain.quorum, blocks: blocks ?? [], heads });
    const ofBlocks =
      blocks === undefined
        ? html`<p class="note">${texts.list.away}</p>`
        : html`${validators.length === 0 ? html`` : validatorCard(context, { standing, validators, blocks })}
${validators.length === 0 ? html`` : roundCard(context, blocks)}
${histogramCard(context, blocks)}`;
    return {
      title: words.title,
      description: words.intro,
      live: "count",
      main: html`<div class="intro"><h1>${words.title}</h1><p>${words.intro}</p></div>
${stateCard(context, chain, standing)}
${heads.length === 0 ? html`` : headsCard(context, heads)}
${ofBlocks}`,
    };
  },
});

function stateCard({ texts, el, now }: PageContext, chain: ChainRecord, standing: NetworkStanding): Html {
  const { health: words } = texts;
  const { members, present, spare } = standing;
  const ageSeconds = Math.max(0, Math.round(now() / 1000 - chain.timestampUnix));
  const isStalled = chain.stalled || (members > 0 && spare < 0);
  const state = isStalled
    ? html`<div id="stall"><p class="alarm" role="alert">${chain.stalled ? words.stalled(el.integer(ageSeconds)) : words.belowQuorum(present, members)}</p>
${members === 0 ? html`` : stallSteps(texts)}</div>`
    : html`<p>${words.goesOn}</p>`;
  const edge = html`<p class="${spare <= 0 ? "alarm" : "note"}">${words.edge(Math.max(0, spare))}</p>`;
  return html`<section class="card"><h2>${words.state}</h2>
${state}
${facts([
  [texts.home.newestBlock, html`${el.blockLink(chain.blockNumber)} · ${el.time(chain.timestamp)}`],
  members === 0 ? undefined : [words.sealing, texts.units.of(el.integer(present), el.integer(members))],
  members === 0 ? undefined : [words.quorum, texts.block.quorumOf(chain.quorum, members)],
])}
${members === 0 ? html`<p>${words.dev}</p>` : isStalled ? html`` : edge}
</section>`;
}

/** What the runbook says of a stall, for operators. */
function stallSteps({ health: words }: PageContext["texts"]): Html {
  const { stalledSteps, stalledRunbook } = words;
  return html`<p>${stalledRunbook} <code>docker/RUNBOOK.md</code></p>
<ol class="steps">
<li>${stalledSteps.look} <code>npm run network -- status</code></li>
<li>${stalledSteps.recover} <code>npm run network -- recover</code></li>
<li>${stalledSteps.wait}</li>
</ol>`;
}

/** How far each validator that can be asked is. Which address is whose its RPC does not say. */
function headsCard({ texts, el }: PageContext, heads: readonly ValidatorHead[]): Html {
  const { health: words } = texts;
  const highest = Math.max(...heads.map((head) => (head.state === "up" ? head.height : 0)));
  type Row = { name: string; head: ValidatorHead };
  return html`<section class="card"><h2>${words.heads}</h2>
${table<Row>({
  caption: words.heads,
  rows: heads.map((head, index) => ({ name: `RPC ${index + 1}`, head })),
  columns: [
    { title: words.node, cell: ({ name }) => name },
    {
      title: words.state,
      cell: ({ head }) => mark(head.state === "up", words.nodeStates[head.state]),
    },
    {
      title: words.head,
      number: true,
      cell: ({ head }) => (head.state === "up" ? el.blockLink(head.height) : "–"),
    },
    {
      title: words.behind,
      number: true,
      cell: ({ head }) => (head.state === "up" ? el.integer(highest - head.height) : "–"),
    },
    {
      title: words.peers,
      number: true,
      cell: ({ head }) => (head.state === "up" && head.peers !== null ? el.integer(head.peers) : "–"),
    },
  ],
})}
</section>`;
}

function mark(isGood: boolean, text: string): Html {
  return isGood
    ? html`<span class="status success"><span aria-hidden="true">✓</span> ${text}</span>`
    : html`<span class="status failed"><span aria-hidden="true">✗</span> ${text}</span>`;
}

function validatorCard(
  context: PageContext,
  {
    standing,
    validators,
    blocks,
  }: { standing: NetworkStanding; validators: readonly string[]; blocks: readonly RecentBlock[] },
): Html {
  const { texts, el } = context;
  const { health: words, validators: ofValidators } = texts;
  const lastOf = (matches: (block: RecentBlock) => boolean) => {
    const last = blocks.findLast(matches);
    return last === undefined ? words.never : el.blockLink(last.number);
  };
  const count = (matches: (block: RecentBlock) => boolean) => el.integer(blocks.filter(matches).length);
  return html`<section class="card"><h2>${texts.home.validators}</h2>
${proposerStrip(context, blocks, validators)}
${table<string>({
  caption: words.seenBlocks,
  rows: validators,
  columns: [
    { title: ofValidators.name, cell: (address) => el.addressLink(address) },
    {
      title: words.state,
      cell: (address) =>
        standing.alive.includes(address) ? mark(true, words.alive) : mark(false, words.silent),
    },
    {
      title: ofValidators.proposed,
      number: true,
      cell: (address) => count(({ proposer }) => proposer === address),
    },
    {
      title: ofValidators.sealed,
      number: true,
      cell: (address) => count(({ sealedBy }) => sealedBy.includes(address)),
    },
    {
      title: ofValidators.missed,
      number: true,
      cell: (address) => count(({ missed }) => missed.includes(address)),
    },
    {
      title: words.lastSealed,
      number: true,
      secondary: true,
      cell: (address) => lastOf(({ sealedBy }) => sealedBy.includes(address)),
    },
    {
      title: words.lastProposed,
      number: true,
      secondary: true,
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
<p class="axis" aria-hidden="true">${rows.map(({ seconds }) => html`<span>${seconds}</span>`)}</p>
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
