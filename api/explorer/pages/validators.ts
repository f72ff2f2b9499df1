import { z } from "zod";
import { isPostgresFailure } from "../../../lib/postgres/postgres-failure.ts";
import { facts, table } from "../../../lib/web/elements/table.ts";
import { type Html, html } from "../../../lib/web/html.ts";
import { readRecentBlocks } from "../../read/recent-blocks.ts";
import type { RankingRecord, ValidatorRecord } from "../../records/block.ts";
import { accountAddress } from "../../rest/parameters.ts";
import { bars } from "../elements/bars.ts";
import { proposerStrip } from "../elements/proposer-strip.ts";
import { errorPage } from "../error-pages.ts";
import { empty } from "../lists.ts";
import type { PageContext } from "../page.ts";
import { pageRoute } from "../page-route.ts";

const stripBlocks = 100;

export const validators = pageRoute({
  path: "/validators",
  entry: "validators",
  params: z.object({}),
  query: z.object({}),
  async render(context) {
    const { texts, read } = context;
    const ranking = await read.ranking();
    const { title, intro } = texts.validators;
    const list =
      ranking.data.length === 0
        ? empty(texts.validators.none)
        : html`${rankingTable(context, ranking)}
<details><summary>${texts.validators.formula}</summary><p>${texts.validators.formulaText}</p></details>`;
    return {
      title,
      description: intro,
      live: "count",
      main: html`<div class="intro"><h1>${title}</h1><p>${intro}</p></div>
<section class="card">${list}</section>
${ranking.data.length === 0 ? html`` : await stripCard(context, ranking)}`,
    };
  },
});

type Ranked = RankingRecord["data"][number];

function rankingTable({ texts, el }: PageContext, ranking: RankingRecord): Html {
  const { validators: words } = texts;
  return table<Ranked>({
    caption: words.caption(ranking.windowBlocks),
    rows: ranking.data,
    columns: [
      { title: words.rank, number: true, cell: ({ rank }) => String(rank) },
      {
        title: words.name,
        cell: ({ address, active }) =>
          html`${el.addressLink(address)} ${el.link(`validator/${address}`, words.details)}${active ? html`` : html` <span class="soft">${words.inactive}</span>`}`,
      },
      { title: words.score, number: true, cell: ({ score }) => el.integer(score) },
      {
        title: words.proposed,
        number: true,
        cell: ({ proposed, turns }) => texts.units.of(el.integer(proposed), el.integer(turns)),
      },
      { title: words.missed, number: true, cell: ({ missedTurns }) => el.integer(missedTurns) },
      {
        title: words.sealed,
        number: true,
        secondary: true,
        cell: ({ sealed, sealable }) => texts.units.of(el.integer(sealed), el.integer(sealable)),
      },
      {
        title: words.lastProposed,
        number: true,
        secondary: true,
        cell: ({ lastProposedBlock }) => (lastProposedBlock === null ? "–" : el.blockLink(lastProposedBlock)),
      },
    ],
  });
}

async function stripCard(context: PageContext, ranking: RankingRecord): Promise<Html> {
  const { texts, read } = context;
  try {
    const blocks = await readRecentBlocks(read.db, stripBlocks);
    const validators = ranking.data.map(({ address }) => address);
    return html`<section class="card"><h2>${texts.validators.strip}</h2>
${proposerStrip(context, blocks, validators)}
</section>`;
  } catch (error) {
    if (isPostgresFailure(error)) return html``;
    throw error;
  }
}

export const validator = pageRoute({
  path: "/validator/:address",
  entry: "validators",
  params: z.object({ address: accountAddress }),
  query: z.object({}),
  async render(context, { params: { address } }) {
    const { texts, el, read } = context;
    const found = await read.validator(address);
    const { validators: words } = texts;
    if (found === undefined) {
      return errorPage(context, {
        title: words.unknown,
        help: words.unknownHelp,
        status: 404,
        wayOn: { path: "validators", text: words.title },
      });
    }
    const name = el.nameOf(address);
    return {
      title: words.of(name),
      description: `${words.of(name)}: ${words.proposed} ${texts.units.of(String(found.proposed), String(found.turns))}`,
      live: "count",
      main: html`<h1>${words.of(name)}</h1>
<section class="card">
${validatorFacts(context, found)}
<p class="more">${el.link(`address/${address}`, words.account)}</p>
</section>
${await ownBlocks(context, address)}`,
    };
  },
});

function validatorFacts({ texts, el }: PageContext, record: ValidatorRecord): Html {
  const { validators: words } = texts;
  return facts([
    [texts.address.address, el.fullAddress(record.address)],
    [words.active, record.active ? words.yes : words.no],
    [words.proposed, texts.units.of(el.integer(record.proposed), el.integer(record.turns))],
    [words.missed, el.integer(record.missedTurns)],
    [words.sealed, texts.units.of(el.integer(record.sealed), el.integer(record.sealable))],
    [words.lastProposed, record.lastProposedBlock === null ? "–" : el.blockLink(record.lastProposedBlock)],
  ]);
}

/** Which of the newest blocks it proposed and sealed. */
async function ownBlocks({ texts, el, read }: PageContext, address: string): Promise<Html> {
  try {
    const blocks = await readRecentBlocks(read.db, stripBlocks);
    const chart = bars({
      label: texts.health.seenBlocks,
      max: 2,
      data: blocks.map(({ number, proposer, sealedBy }) => {
        const kind = proposer === address ? "proposed" : sealedBy.includes(address) ? "sealed" : "absent";
        return {
          value: { proposed: 2, sealed: 1, absent: 0 }[kind],
          className: kind,
          title: `${texts.block.title(el.integer(number))}: ${texts.validators.marks[kind]}`,
        };
      }),
    });
    return html`<section class="card"><h2>${texts.health.seenBlocks}</h2>${chart}<p class="soft">${texts.validators.marksHelp}</p></section>`;
  } catch (error) {
    if (isPostgresFailure(error)) return html``;
    throw error;
  }
}
