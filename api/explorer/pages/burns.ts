import { z } from "zod";
import { isRefusal } from "../../../lib/http-service/refusal.ts";
import { table } from "../../../lib/web/elements/table.ts";
import { type Html, html } from "../../../lib/web/html.ts";
import { listBurnEvents } from "../../read/burns.ts";
import type { BurnEventRecord, BurnsRecord } from "../../records/chain.ts";
import { pageQuery } from "../../rest/parameters.ts";
import { bars } from "../elements/bars.ts";
import { pager } from "../elements/pager.ts";
import { empty, indexNote } from "../lists.ts";
import type { PageContext } from "../page.ts";
import { pageRoute } from "../page-route.ts";

const wholeBps = 10_000;

export const burns = pageRoute({
  path: "/burns",
  entry: "burns",
  params: z.object({}),
  query: pageQuery.strip(),
  async render(context, { query }) {
    const { texts, el, read } = context;
    const [record, events] = await Promise.all([read.burns(), listBurnEvents(read.db, query)]);
    if (isRefusal(events)) return events;
    const { title, intro, policy, burned, treasury } = texts.burns;
    const { burnBps, treasuryBps } = record.policy;
    return {
      title,
      description: intro,
      main: html`<div class="intro"><h1>${title}</h1><p>${intro}</p></div>
${await indexNote(context, record.indexedBlock)}
<section class="card"><h2>${policy}</h2>
<svg class="policy" viewBox="0 0 100 6" preserveAspectRatio="none" role="img" aria-label="${burned} ${el.percent(burnBps / wholeBps)}, ${treasury} ${el.percent(treasuryBps / wholeBps)}"><rect class="burned" width="${String(burnBps / 100)}" height="6"/><rect class="treasury" x="${String(burnBps / 100)}" width="${String(treasuryBps / 100)}" height="6"/></svg>
<ul class="legend"><li class="burned"><span class="swatch" aria-hidden="true"></span>${burned} ${el.percent(burnBps / wholeBps)}</li><li class="treasury"><span class="swatch" aria-hidden="true"></span>${treasury} ${el.percent(treasuryBps / wholeBps)}</li></ul>${places(context, record)}
</section>
<section class="card"><h2>${texts.burns.caption}</h2>${sourceTable(context, record)}</section>
<section class="card"><h2>${texts.burns.byDay}</h2>${dayChart(context, record)}</section>
<section class="card"><h2>${texts.burns.events}</h2>
${events.data.length === 0 ? empty(texts.list.empty) : eventTable(context, events.data)}
${pager(context, { path: "burns", limit: query.limit, isFirst: query.cursor === undefined, nextCursor: events.nextCursor })}
</section>`,
    };
  },
});

/** The contract and the burn address: whoever doubts the sums can look there. */
function places({ texts: { burns: words }, el }: PageContext, { contract, burnSink }: BurnsRecord): Html {
  if (contract === null || burnSink === null) return html``;
  const { address, balance } = burnSink;
  return html`<dl class="facts"><div><dt>${words.contract}</dt><dd>${el.fullAddress(contract)}</dd></div>
<div><dt>${words.sink}</dt><dd>${el.fullAddress(address)} <span class="note">${words.sinkNote}</span></dd></div>
<div><dt>${words.sinkBalance}</dt><dd>${balance === null ? "–" : el.tokens(balance)}</dd></div></dl>`;
}

type SourceRow = {
  name: string;
  payments: number;
  amount: string;
  burned: string;
  treasury: string;
  lastBlock: number | null;
};

function sourceTable({ texts, el }: PageContext, { sources, totals }: BurnsRecord): Html {
  const { burns: words } = texts;
  const rows: SourceRow[] = [
    ...sources.map(({ source, ...row }) => ({ ...row, name: words.sources[source] })),
    { ...totals, name: words.total, lastBlock: null },
  ];
  return table<SourceRow>({
    caption: words.caption,
    rows,
    columns: [
      { title: words.source, cell: ({ name }) => name },
      { title: words.payments, number: true, cell: ({ payments }) => el.integer(payments) },
      { title: words.amount, number: true, cell: ({ amount }) => el.tokens(amount) },
      { title: words.burned, number: true, cell: ({ burned }) => el.tokens(burned) },
      { title: words.treasury, number: true, cell: ({ treasury }) => el.tokens(treasury) },
      {
        title: words.lastBlock,
        number: true,
        secondary: true,
        cell: ({ lastBlock }) => (lastBlock === null ? "–" : el.blockLink(lastBlock)),
      },
    ],
  });
}

function dayChart({ texts, el }: PageContext, { byDay }: BurnsRecord): Html {
  if (byDay.every(({ burned }) => burned === "0")) return empty(texts.burns.noneByDay);
  const data = byDay.map(({ date, burned }) => ({
    value: Number(burned),
    title: `${date}: ${el.tokens(burned)}`,
  }));
  return bars({ label: texts.burns.byDay, data, max: Math.max(...data.map(({ value }) => value)) });
}

function eventTable({ texts, el }: PageContext, rows: readonly BurnEventRecord[]): Html {
  const { burns: words, transactions } = texts;
  return table<BurnEventRecord>({
    caption: words.eventsCaption,
    rows,
    columns: [
      { title: transactions.hash, cell: ({ transactionHash }) => el.transactionLink(transactionHash) },
      { title: transactions.age, cell: ({ timestamp }) => el.time(timestamp) },
      { title: words.source, cell: ({ source }) => words.sources[source] },
      { title: words.payer, cell: ({ payer }) => (payer === null ? words.fromBox : el.addressLink(payer)) },
      { title: words.amount, number: true, cell: ({ amount }) => el.tokens(amount) },
      { title: words.burned, number: true, cell: ({ burned }) => el.tokens(burned) },
    ],
  });
}
