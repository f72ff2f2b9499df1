import { z } from "zod";
import { isRefusal } from "../../../lib/http-service/refusal.ts";
import { facts } from "../../../lib/web/elements/table.ts";
import { type Html, html } from "../../../lib/web/html.ts";
import { listBlockTransactions } from "../../read/transaction-lists.ts";
import type { BlockRecord, ConsensusRecord } from "../../records/block.ts";
import { blockNumber, pageQuery, transactionHash } from "../../rest/parameters.ts";
import { pager } from "../elements/pager.ts";
import { errorPage } from "../error-pages.ts";
import { empty, listOrAway, transactionTable } from "../lists.ts";
import type { PageContext } from "../page.ts";
import { pageRoute } from "../page-route.ts";

/** A block by its number, or by its hash, which leads to its number. */
const numberOrHash = z.union([
  blockNumber.transform((number) => ({ number })),
  transactionHash.transform((hash) => ({ hash })),
]);

export const block = pageRoute({
  path: "/block/:block",
  entry: "blocks",
  params: z.object({ block: numberOrHash }),
  query: pageQuery.strip(),
  async render(context, { params, query }) {
    const { texts, el, read } = context;
    if ("hash" in params.block) {
      const found = await read.blockByHash(params.block.hash);
      if (found !== undefined) return { redirect: `block/${found.number}` };
      const { unknownHash, unknownHashHelp } = texts.block;
      return errorPage(context, { title: unknownHash, help: unknownHashHelp, status: 404 });
    }
    const { number } = params.block;
    const [record, consensus, newest] = await Promise.all([
      read.block(number),
      read.blockConsensus(number),
      read.latest(),
    ]);
    if (record === undefined) {
      return errorPage(context, {
        title: texts.block.unknown(el.integer(number)),
        help: texts.block.unknownHelp(el.integer(newest.number)),
        status: 404,
        wayOn: { path: `block/${newest.number}`, text: texts.home.newestBlock },
        ...(number - newest.number < 10 ? { retrySeconds: 5 } : {}),
      });
    }
    const list = await listOrAway(context, listBlockTransactions(read.db, number, query), (page) => {
      if (record.transactionCount === 0) return empty(texts.block.none);
      return html`${transactionTable(context, page.data, { caption: texts.block.transactionsOf, ofOneBlock: true })}
${pager(context, { path: `block/${number}`, limit: query.limit, isFirst: query.cursor === undefined, nextCursor: page.nextCursor })}`;
    });
    if (isRefusal(list)) return list;
    const previous = number === 0 ? undefined : `block/${number - 1}`;
    const next = number >= newest.number ? undefined : `block/${number + 1}`;
    return {
      title: texts.block.title(el.integer(number)),
      description: texts.block.summary(el.integer(number), record.transactionCount),
      previous,
      next,
      main: html`<div class="title">
<h1>${texts.block.title(el.integer(number))}</h1>
<nav class="neighbours" aria-label="${texts.blocks.title}">
${previous === undefined ? html`` : html`<a rel="prev" href="${el.to(previous)}" title="${texts.block.previous}"><span aria-hidden="true">←</span><span class="unseen">${texts.block.previous}</span></a>`}
${next === undefined ? html`` : html`<a rel="next" href="${el.to(next)}" title="${texts.block.next}"><span aria-hidden="true">→</span><span class="unseen">${texts.block.next}</span></a>`}
</nav>
</div>
${blockFacts(context, record)}
${consensusFacts(context, consensus)}
<section class="card">
<h2>${texts.block.transactions} (${el.integer(record.transactionCount)})</h2>
${list}
</section>`,
    };
  },
});

function blockFacts({ texts, el }: PageContext, record: BlockRecord): Html {
  const { block } = texts;
  const used = Number(record.gasLimit) === 0 ? 0 : Number(record.gasUsed) / Number(record.gasLimit);
  return html`<section class="card">
<h2>${block.facts}</h2>
${facts([
  [block.time, el.time(record.timestamp)],
  [block.proposer, record.proposer === null ? block.genesis : el.fullAddress(record.proposer)],
  [
    block.gasUsed,
    `${texts.units.of(el.integer(record.gasUsed), el.integer(record.gasLimit))} (${el.percent(used)})`,
  ],
  record.baseFeePerGas === null ? undefined : [block.baseFee, el.gwei(record.baseFeePerGas)],
  [block.size, texts.units.bytes(el.integer(record.size))],
  [block.hash, el.bytes(record.hash)],
  [
    block.parent,
    record.number === 0
      ? el.bytes(record.parentHash)
      : html`${el.bytes(record.parentHash)} ${el.blockLink(record.number - 1)}`,
  ],
])}
<details><summary>${block.stateRoot}, ${block.receiptsRoot}, ${block.vanity}</summary>
${facts([
  [block.stateRoot, el.bytes(record.stateRoot)],
  [block.transactionsRoot, el.bytes(record.transactionsRoot)],
  [block.receiptsRoot, el.bytes(record.receiptsRoot)],
  record.vanity === null ? undefined : [block.vanity, el.bytes(record.vanity)],
])}
</details>
</section>`;
}

/** Nothing on a development chain: nobody seals it. */
function consensusFacts({ texts, el }: PageContext, consensus: ConsensusRecord | undefined): Html {
  if (consensus === undefined || consensus.validators.length === 0) return html``;
  const { block } = texts;
  const { round, sealedBy, notSealed, missedTurns, validators, quorum } = consensus;
  const names = (addresses: readonly string[]): string | Html =>
    addresses.length === 0
      ? block.nobody
      : html`<ul class="names">${addresses.map((address) => html`<li>${el.addressLink(address)}</li>`)}</ul>`;
  return html`<section class="card">
<h2>${block.consensus}</h2>
${facts([
  [block.round, round === null || round === 0 ? block.firstRound : block.laterRound(round)],
  [block.sealedBy, names(sealedBy)],
  [block.notSealed, names(notSealed)],
  [block.missedTurns, names(missedTurns)],
  [block.quorum, block.quorumOf(quorum, validators.length)],
])}
</section>`;
}
