import { z } from "zod";
import { facts } from "../../../lib/web/elements/table.ts";
import { type Html, html } from "../../../lib/web/html.ts";
import type { TransactionRecord } from "../../records/transaction.ts";
import { transactionHash } from "../../rest/parameters.ts";
import { cut } from "../elements/cut.ts";
import { argumentTable, eventList } from "../elements/events.ts";
import { revertText } from "../elements/revert-text.ts";
import { errorPage } from "../error-pages.ts";
import { transferTable } from "../lists.ts";
import type { PageContext } from "../page.ts";
import { pageRoute } from "../page-route.ts";

export const transaction = pageRoute({
  path: "/tx/:hash",
  entry: "transactions",
  params: z.object({ hash: transactionHash }),
  query: z.object({}),
  async render(context, { params: { hash } }) {
    const { texts, read } = context;
    const record = await read.transaction(hash);
    if (record === undefined) {
      const { unknown, unknownHelp } = texts.transaction;
      return errorPage(context, { title: unknown, help: unknownHelp, status: 404, retrySeconds: 5 });
    }
    const { number: head } = await read.latest();
    const isPending = record.status === "pending";
    return {
      title: texts.transaction.titleOf(`${hash.slice(0, 10)}…${hash.slice(-6)}`),
      description: `${texts.status[record.status]}: ${summaryOf(context, record)}`,
      ...(isPending ? { live: "follow" as const } : {}),
      main: html`<h1>${texts.transaction.title}</h1>
${outcome(context, record)}
${transactionFacts(context, record, head)}
${methodCard(context, record)}
${transfersCard(context, record)}
${eventsCard(context, record)}`,
    };
  },
});

/** What it did, in one sentence. */
function summaryOf(
  { texts, el }: PageContext,
  { from, to, value, method, input, status, tokenTransfers }: TransactionRecord,
): string {
  const { transaction } = texts;
  const sender = el.nameOf(from);
  if (to === null) return transaction.created(sender);
  const recipient = el.nameOf(to);
  if (method === null || input === "0x") return transaction.sent(el.tokens(value), sender, recipient);
  const [only] = tokenTransfers;
  // Of the token that was called, whose address stands beside its symbol: any contract can call itself TEST.
  if (
    status === "success" &&
    value === "0" &&
    tokenTransfers.length === 1 &&
    only?.from === from &&
    only.token.address === to &&
    only.value !== null &&
    only.tokenId === null
  ) {
    const amount = `${el.units(only.value, only.token.decimals)} ${only.token.symbol ?? ""} (${recipient})`;
    return transaction.sent(amount, sender, el.nameOf(only.to));
  }
  const called = method.name ?? method.selector;
  return value === "0"
    ? transaction.called(called, sender, recipient)
    : transaction.calledWith(called, sender, recipient, el.tokens(value));
}

function outcome(context: PageContext, record: TransactionRecord): Html {
  const { texts, el } = context;
  const { transaction } = texts;
  const help = {
    success: html``,
    failed: html`<p>${transaction.failedHelp}</p>`,
    pending: html`<p>${transaction.pendingHelp}</p>`,
  }[record.status];
  return html`<section class="card outcome ${record.status}">
<p class="outcome-line">${el.status(record.status)} <span>${summaryOf(context, record)}</span></p>
${help}
${record.status === "failed" ? reasonOf(context, record) : html``}
</section>`;
}

function reasonOf({ texts }: PageContext, { revert }: TransactionRecord): Html {
  const { transaction } = texts;
  if (revert === null) return html`<p>${transaction.reasonGone}</p>`;
  const text = revertText(revert);
  if (text === undefined) return html`<p>${transaction.noReason}</p>`;
  return html`<p><strong>${transaction.reason}:</strong> <code class="long">${cut(text)}</code></p>`;
}

function transactionFacts({ texts, el }: PageContext, record: TransactionRecord, head: number): Html {
  const { transaction } = texts;
  const { blockNumber, timestamp, index, receipt, contractCreated } = record;
  const since = Math.max(0, head - (blockNumber ?? head));
  return html`<section class="card">
<h2>${transaction.facts}</h2>
${facts([
  [transaction.hash, el.bytes(record.hash)],
  blockNumber === null
    ? undefined
    : [
        transaction.block,
        html`${el.blockLink(blockNumber)} <span class="soft">${transaction.confirmations(since, el.integer(since))}</span>`,
      ],
  timestamp === null ? undefined : [transaction.time, el.time(timestamp)],
  [transaction.from, el.fullAddress(record.from)],
  record.to === null ? undefined : [transaction.to, el.fullAddress(record.to)],
  contractCreated === null ? undefined : [transaction.contractCreated, el.fullAddress(contractCreated)],
  [transaction.value, el.tokens(record.value)],
  receipt === null ? undefined : [transaction.fee, el.tokens(receipt.fee)],
  [
    transaction.gas,
    receipt === null
      ? el.integer(record.gasLimit)
      : texts.units.of(el.integer(receipt.gasUsed), el.integer(record.gasLimit)),
  ],
  [transaction.gasPrice, el.gwei(receipt?.effectiveGasPrice ?? record.gasPrice)],
  [transaction.nonce, el.integer(record.nonce)],
  index === null ? undefined : [transaction.position, el.integer(index)],
  [transaction.type, typeOf(record.type)],
])}
</section>`;
}

function methodCard(context: PageContext, { method, input }: TransactionRecord): Html {
  const { transaction } = context.texts;
  if (input === "0x") return html``;
  const decoded =
    method?.arguments === null || method?.arguments === undefined || method.arguments.length === 0
      ? html``
      : argumentTable(context, method.arguments);
  const signature =
    method === null ? html`` : html`<p><code class="long">${method.signature ?? method.selector}</code></p>`;
  return html`<section class="card">
<h2>${transaction.method}</h2>
${signature}
${decoded}
<details><summary>${transaction.raw}</summary><pre class="raw" tabindex="0">${cut(input)}</pre></details>
</section>`;
}

/** The rest is in the API. */
const rowsMax = 100;

function restOf({ texts, el }: PageContext, { hash, count }: { hash: string; count: number }): Html {
  if (count <= rowsMax) return html``;
  const { allByApi } = texts.transaction;
  return html`<p class="more">${el.link(`api/v1/transactions/${hash}`, allByApi(el.integer(rowsMax), el.integer(count)))}</p>`;
}

function transfersCard(context: PageContext, { hash, tokenTransfers }: TransactionRecord): Html {
  if (tokenTransfers.length === 0) return html``;
  return html`<section class="card">
<h2>${context.texts.transaction.transfers}</h2>
${transferTable(context, tokenTransfers.slice(0, rowsMax), { withTransaction: false })}
${restOf(context, { hash, count: tokenTransfers.length })}
</section>`;
}

function eventsCard(context: PageContext, { hash, receipt }: TransactionRecord): Html {
  const logs = receipt?.logs ?? [];
  if (logs.length === 0) return html``;
  return html`<section class="card">
<h2>${context.texts.transaction.events}</h2>
${eventList(context, logs.slice(0, rowsMax), ({ address }) => context.el.addressLink(address))}
${restOf(context, { hash, count: logs.length })}
</section>`;
}

/** The number of EIP-2718, and what brought it. */
function typeOf(type: number): string {
  const broughtBy = ["", "EIP-2930", "EIP-1559", "EIP-4844", "EIP-7702"][type] ?? "";
  return broughtBy === "" ? String(type) : `${type} (${broughtBy})`;
}
