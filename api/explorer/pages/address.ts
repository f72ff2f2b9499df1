import { renderSVG } from "uqr";
import { z } from "zod";
import { isRefusal, type Refusal } from "../../../lib/http-service/refusal.ts";
import { facts } from "../../../lib/web/elements/table.ts";
import { type Html, html } from "../../../lib/web/html.ts";
import { listAccountTransactions } from "../../read/transaction-lists.ts";
import { listAccountTransfers } from "../../read/transfer-lists.ts";
import type { AccountRecord } from "../../records/transaction.ts";
import { accountAddress, cursor, day, direction, limit, status } from "../../rest/parameters.ts";
import { eventsCard, eventsCost, logPlace } from "../address/events-card.ts";
import { type Tab, tabs } from "../address/tabs.ts";
import { pager } from "../elements/pager.ts";
import { errorPage } from "../error-pages.ts";
import { empty, listOrAway, transactionTable, transferTable } from "../lists.ts";
import type { PageContext } from "../page.ts";
import { pageRoute } from "../page-route.ts";

const tab = z
  .enum(["transactions", "transfers", "events"])
  .optional()
  .transform((value) => value ?? "transactions");
/** A form sends what was left empty, too. */
const leftEmpty = <Schema extends z.ZodType>(schema: Schema) =>
  z.preprocess((value) => (value === "" ? undefined : value), schema);

const query = z.object({
  tab,
  limit,
  cursor,
  direction: leftEmpty(direction),
  status: leftEmpty(status),
  from: leftEmpty(day),
  to: leftEmpty(day),
  before: logPlace,
});
type Query = z.output<typeof query>;

export const address = pageRoute({
  path: "/address/:address",
  params: z.object({ address: accountAddress }),
  query,
  cost: ({ tab: shown }) => (shown === "events" ? eventsCost : 1),
  invalid(context) {
    const { invalid, invalidHelp } = context.texts.address;
    return errorPage(context, { title: invalid, help: invalidHelp, status: 404 });
  },
  async render(context, { params: { address: account }, query: asked }) {
    const { texts, read } = context;
    const [record, { validators }] = await Promise.all([read.account(account), read.consensus()]);
    const list =
      asked.tab === "events"
        ? await eventsCard(context, record, asked)
        : await listCard(context, record, { ...asked, tab: asked.tab });
    if (isRefusal(list)) return list;
    const isValidator = validators.includes(account);
    const kind = isValidator
      ? texts.address.validator
      : record.isContract
        ? texts.address.contract
        : texts.address.account;
    const shown = record.name ?? account;
    return {
      title: `${kind} ${shown}`,
      description: `${kind} ${shown}: ${context.el.tokens(record.balance)}`,
      main: html`<div class="title"><h1>${kind}${record.name === null ? html`` : html` ${record.name}`}</h1></div>
${accountCard(context, record, isValidator)}
${list}`,
    };
  },
});

function accountCard({ texts, el }: PageContext, record: AccountRecord, isValidator: boolean): Html {
  const { address: words } = texts;
  const { createdBy } = record;
  return html`<section class="card">
${facts([
  [words.address, el.fullAddress(record.address)],
  [words.balance, el.tokens(record.balance)],
  [words.sent, el.integer(record.transactionCount)],
  record.codeHash === null
    ? undefined
    : [
        words.code,
        html`${texts.units.bytes(el.integer(record.codeBytes))} ${el.link(`contract/${record.address}`, texts.contracts.abi)}`,
      ],
  record.codeHash === null ? undefined : [words.codeHash, el.bytes(record.codeHash)],
  createdBy === null
    ? undefined
    : [
        words.createdBy,
        html`${el.addressLink(createdBy.address)} ${words.createdIn} ${el.transactionLink(createdBy.transactionHash)}`,
      ],
  [words.firstSeen, record.firstSeenBlock === null ? words.notSeen : el.blockLink(record.firstSeenBlock)],
])}
${isValidator ? html`<p class="more">${el.link(`validator/${record.address}`, words.validatorPage)}</p>` : html``}
<details><summary>${words.qr}</summary><img class="qr" src="${el.to(`address/${record.address}/qr.svg`)}" alt="${words.qrOf(record.address)}" width="200" height="200" loading="lazy"></details>
</section>`;
}

/** What a list is asked for with: events have another way of paging and no filter. */
type ListQuery = Query & { tab: Exclude<Tab, "events"> };

async function listCard(
  context: PageContext,
  record: AccountRecord,
  asked: ListQuery,
): Promise<Html | Refusal> {
  const { texts, el, read } = context;
  const account = record.address;
  const path = `address/${account}`;
  const filter = filterOf(asked);
  const next = (nextCursor: string | null) =>
    pager(context, {
      path,
      query: { tab: asked.tab, ...filter },
      limit: asked.limit,
      isFirst: asked.cursor === undefined,
      nextCursor,
    });
  const list =
    asked.tab === "transactions"
      ? await listOrAway(context, listAccountTransactions(read.db, account, asked), ({ data, nextCursor }) =>
          data.length === 0
            ? empty(texts.address.noTransactions)
            : html`${transactionTable(context, data, { account })}${next(nextCursor)}`,
        )
      : await listOrAway(context, listAccountTransfers(read.db, account, asked), ({ data, nextCursor }) =>
          data.length === 0
            ? empty(texts.address.noTransfers)
            : html`${transferTable(context, data, { account })}${next(nextCursor)}`,
        );
  if (isRefusal(list)) return list;
  const given = new URLSearchParams(Object.entries(filter)).toString();
  const csv = `api/v1/accounts/${account}/${asked.tab}.csv${given === "" ? "" : `?${given}`}`;
  return html`<section class="card">
${tabs(context, record, asked.tab)}
${filterForm(context, path, asked)}
${list}
<p class="more"><a href="${el.to(csv)}" download>${texts.list.csv}</a></p>
</section>`;
}

/** What a list leaves out, as the API's own parameters. */
function filterOf({
  tab: shown,
  direction: way,
  status: outcome,
  from,
  to,
}: ListQuery): Record<string, string> {
  const given = {
    direction: way === "both" ? undefined : way,
    ...(shown === "transactions" ? { status: outcome, from, to } : {}),
  };
  return Object.fromEntries(
    Object.entries(given).flatMap(([name, value]) => (value === undefined ? [] : [[name, value] as const])),
  );
}

function filterForm({ texts, el }: PageContext, path: string, asked: ListQuery): Html {
  const { list } = texts;
  const option = (value: string, text: string, chosen: string | undefined) =>
    value === (chosen ?? "")
      ? html`<option value="${value}" selected>${text}</option>`
      : html`<option value="${value}">${text}</option>`;
  const isTransactions = asked.tab === "transactions";
  const more = isTransactions
    ? html`<label>${list.outcome} <select name="status">${[option("", list.all, asked.status), option("success", texts.status.success, asked.status), option("failed", texts.status.failed, asked.status)]}</select></label>
<label>${list.from} <input type="date" name="from" value="${asked.from ?? ""}"></label>
<label>${list.to} <input type="date" name="to" value="${asked.to ?? ""}"></label>`
    : html``;
  const chosen = asked.direction === "both" ? "" : asked.direction;
  return html`<form class="filter" action="${el.to(path)}">
<input type="hidden" name="tab" value="${asked.tab}">
<label>${list.direction} <select name="direction">${[option("", list.all, chosen), option("in", list.incoming, chosen), option("out", list.outgoing, chosen)]}</select></label>
${more}
<button type="submit" class="quiet">${list.apply}</button>
</form>`;
}

/** The address as an image that a phone's camera reads. */
export function qrOf(account: string): string {
  return renderSVG(account, { border: 2 });
}
