import { z } from "zod";
import { facts, table } from "../../../lib/web/elements/table.ts";
import { type Html, html } from "../../../lib/web/html.ts";
import { type RecentBlock, readRecentBlocks } from "../../read/recent-blocks.ts";
import type { ValidatorHead } from "../../read/validator-heads.ts";
import { whileAway } from "../../read/while-away.ts";
import type { ChainRecord } from "../../records/chain.ts";
import { proposerStrip } from "../elements/proposer-strip.ts";
import { histogramCard } from "../health/block-times.ts";
import { type NetworkStanding, standingOf } from "../health/network-standing.ts";
import { roundCard } from "../health/round-changes.ts";
import type { PageContext } from "../page.ts";
import { pageRoute } from "../page-route.ts";

const blocksLooked = 100;

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
