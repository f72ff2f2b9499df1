import { z } from "zod";
import { isRefusal } from "../../../lib/http-service/refusal.ts";
import { isPostgresFailure } from "../../../lib/postgres/postgres-failure.ts";
import { type Html, html } from "../../../lib/web/html.ts";
import { listBlocks } from "../../read/block-lists.ts";
import { readBlockTimes, readGas, readProposers } from "../../read/statistics.ts";
import { listTransactions } from "../../read/transaction-lists.ts";
import type { ChainRecord } from "../../records/chain.ts";
import { bars } from "../elements/bars.ts";
import { blockTable, empty, listOrAway, nobody, transactionTable } from "../lists.ts";
import type { PageContext } from "../page.ts";
import { pageRoute } from "../page-route.ts";

const rowsShown = { limit: 10 };
const chartBlocks = 100;

export const home = pageRoute({
  path: "/",
  entry: "home",
  params: z.object({}),
  query: z.object({}),
  async render(context) {
    const { texts, el, read } = context;
    const chain = await read.chain();
    const newest = await read.blockConsensus(chain.blockNumber);
    const [blocks, transactions, charts] = await Promise.all([
      listOrAway(context, listBlocks(read.db, rowsShown), ({ data }) =>
        data.length === 0 ? empty(texts.list.notBegun) : blockTable(context, data),
      ),
      listOrAway(context, listTransactions(read.db, rowsShown), ({ data }) =>
        data.length === 0 ? empty(texts.list.empty) : transactionTable(context, data),
      ),
      chartsOf(context),
    ]);
    if (isRefusal(blocks)) return blocks;
    if (isRefusal(transactions)) return transactions;
    return {
      title: texts.home.title,
      description: texts.home.intro,
      live: "count",
      main: html`<div class="intro">
<h1>${texts.home.title}</h1>
<p>${texts.home.intro}</p>
</div>
${stalledNote(context, chain)}
<section class="tiles" aria-label="${texts.network.status}">
${tile(texts.home.newestBlock, html`<span data-live-height>${el.blockLink(chain.blockNumber)}</span>`, el.time(chain.timestamp))}
${tile(texts.home.blockTime, texts.units.seconds(el.decimal(chain.averageBlockTimeSeconds ?? chain.blockTimeSeconds)), texts.home.blockTimeOver)}
${tile(texts.home.gasPrice, el.gwei(chain.gasPrice), "")}
${validatorTile(context, newest)}
</section>
<section class="card">
<h2>${texts.home.latestBlocks}</h2>
${blocks}
<p class="more">${el.link("blocks", texts.home.allBlocks)}</p>
</section>
<section class="card">
<h2>${texts.home.latestTransactions}</h2>
${transactions}
<p class="more">${el.link("txs", texts.home.allTransactions)}</p>
</section>
${charts}`,
    };
  },
});

function tile(name: string, value: string | Html, more: string | Html): Html {
  return html`<div class="tile"><p class="tile-name">${name}</p><p class="tile-value">${value}</p><p class="tile-more">${more}</p></div>`;
}

function stalledNote({ texts, el, now }: PageContext, { stalled, timestampUnix }: ChainRecord): Html {
  if (!stalled) return html``;
  const seconds = Math.max(0, Math.round(now() / 1000 - timestampUnix));
  return html`<p class="alarm" role="alert">${texts.home.stalled} ${texts.units.seconds(el.integer(seconds))}. ${el.link("network/health#stall", texts.home.stalledHelp)}</p>`;
}

/** A dot a validator: filled where its seal is on the newest block. */
function validatorTile(
  { texts, el }: PageContext,
  newest: { validators: readonly string[]; sealedBy: readonly string[] } | undefined,
): Html {
  const { validators = [], sealedBy = [] } = newest ?? {};
  if (validators.length === 0) return tile(texts.home.validators, "–", texts.home.noValidators);
  const dots = validators.map((address) => {
    const kind = sealedBy.includes(address) ? "sealed" : "silent";
    return html`<a class="dot ${kind}" href="${el.to(`validator/${address}`)}" title="${el.nameOf(address)}"><span class="unseen">${el.nameOf(address)}</span></a>`;
  });
  const told = texts.home.validatorsHealthy(sealedBy.length, validators.length);
  return tile(texts.home.validators, html`<span class="dots">${dots}</span>`, told);
}

async function chartsOf({ texts, el, read }: PageContext): Promise<Html> {
  try {
    const [times, gas, proposers] = await Promise.all([
      readBlockTimes(read.db, chartBlocks),
      readGas(read.db, chartBlocks),
      readProposers(read.db, chartBlocks),
    ]);
    if (times.data.length === 0) return html``;
    const of = texts.home.blockTimesOf(times.data.length);
    // A development chain names nobody.
    const shares = proposers.data.filter(({ proposer }) => proposer !== nobody);
    const title = (number: number, value: string) => `${texts.block.title(el.integer(number))}: ${value}`;
    return html`<section class="charts">
<figure class="card"><figcaption><h2>${texts.home.blockTimes}</h2><p class="chart-note">${of}</p></figcaption>
${bars({ label: texts.home.blockTimes, data: times.data.map(({ blockNumber, seconds }) => ({ value: seconds, title: title(blockNumber, texts.units.seconds(String(seconds))) })) })}
</figure>
<figure class="card"><figcaption><h2>${texts.home.gasUsed}</h2><p class="chart-note">${of}</p></figcaption>
${gas.data.every(({ gasUsed }) => gasUsed === "0") ? html`<p class="soft">${texts.home.noGas}</p>` : bars({ label: texts.home.gasUsed, data: gas.data.map(({ blockNumber, gasUsed }) => ({ value: Number(gasUsed), title: title(blockNumber, el.integer(gasUsed)) })) })}
</figure>
<figure class="card"><figcaption><h2>${texts.home.proposers}</h2><p class="chart-note">${of}</p></figcaption>
${shares.length === 0 ? html`<p class="soft">${texts.home.noValidators}</p>` : html`<ul class="shares">${shares.map(({ proposer, blocks, share }) => html`<li>${el.addressLink(proposer)} <span>${el.integer(blocks)} · ${el.percent(share)}</span></li>`)}</ul>`}
</figure>
</section>`;
  } catch (error) {
    if (isPostgresFailure(error)) return html``;
    throw error;
  }
}
