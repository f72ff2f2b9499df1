import { z } from "zod";
import { isRefusal } from "../../../lib/http-service/refusal.ts";
import { table } from "../../../lib/web/elements/table.ts";
import { type Html, html } from "../../../lib/web/html.ts";
import { listCreations } from "../../read/transaction-lists.ts";
import type { ContractsRecord } from "../../records/chain.ts";
import type { TransactionRow } from "../../records/transaction.ts";
import { pageQuery } from "../../rest/parameters.ts";
import { pager } from "../elements/pager.ts";
import { empty, listOrAway } from "../lists.ts";
import type { PageContext } from "../page.ts";
import { pageRoute } from "../page-route.ts";

export const contracts = pageRoute({
  path: "/contracts",
  entry: "contracts",
  params: z.object({}),
  query: pageQuery.strip(),
  async render(context, { query }) {
    const { texts, read } = context;
    const { title, intro, none, known, created, noneCreated } = texts.contracts;
    const { data: knownContracts } = await read.networkContracts();
    const creations = await listOrAway(
      context,
      listCreations(read.db, query),
      ({ data, nextCursor }) =>
        html`${data.length === 0 ? empty(noneCreated) : creationTable(context, data)}
${pager(context, { path: "contracts", limit: query.limit, isFirst: query.cursor === undefined, nextCursor })}`,
    );
    if (isRefusal(creations)) return creations;
    return {
      title,
      description: intro,
      main: html`<div class="intro"><h1>${title}</h1><p>${intro}</p></div>
<section class="card"><h2>${known}</h2>
${knownContracts.length === 0 ? empty(none) : knownTable(context, knownContracts)}
</section>
<section class="card"><h2>${created}</h2>
${creations}
</section>`,
    };
  },
});

function knownTable({ texts, el }: PageContext, rows: ContractsRecord["data"]): Html {
  const { contracts: words } = texts;
  return table<ContractsRecord["data"][number]>({
    caption: words.caption,
    rows,
    columns: [
      { title: words.name, cell: ({ name, address }) => el.link(`contract/${address}`, name) },
      // The name stands before it already.
      { title: words.address, cell: ({ address }) => el.link(`address/${address}`, el.short(address)) },
      {
        title: words.deployed,
        number: true,
        cell: ({ deployedAtBlock }) => (deployedAtBlock === null ? "–" : el.blockLink(deployedAtBlock)),
      },
      { title: words.abi, cell: ({ abiUrl }) => el.link(abiUrl.slice(1), "JSON") },
    ],
  });
}

/** Contracts by the transactions that created them; those that contracts create are in no transaction of their own. */
function creationTable({ texts, el }: PageContext, rows: readonly TransactionRow[]): Html {
  const { contracts: words, transactions } = texts;
  return table<TransactionRow>({
    caption: words.created,
    rows,
    columns: [
      {
        title: words.address,
        cell: ({ contractCreated }) => (contractCreated === null ? "–" : el.addressLink(contractCreated)),
      },
      { title: transactions.block, cell: ({ blockNumber }) => el.blockLink(blockNumber) },
      { title: transactions.age, cell: ({ timestamp }) => el.time(timestamp) },
      { title: texts.address.createdBy, cell: ({ from }) => el.addressLink(from) },
      { title: transactions.hash, cell: ({ hash }) => el.transactionLink(hash) },
    ],
  });
}
