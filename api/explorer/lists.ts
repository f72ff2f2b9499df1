import { isRefusal, type Refusal } from "../../lib/http-service/refusal.ts";
import { isPostgresFailure } from "../../lib/postgres/postgres-failure.ts";
import { type Column, table } from "../../lib/web/elements/table.ts";
import { type Html, html } from "../../lib/web/html.ts";
import type { BlockRow } from "../records/block.ts";
import type { TransactionRow, TransferRecord } from "../records/transaction.ts";
import type { PageContext } from "./page.ts";

/** Mints and burns name it, and a development chain as the proposer of its blocks. */
export const nobody = `0x${"0".repeat(40)}`;

/** A list that a page shows beside other things: the page goes on where the index is away. */
export async function listOrAway<Page extends object>(
  { texts }: PageContext,
  reading: Promise<Page | Refusal>,
  show: (page: Page) => Html,
): Promise<Html | Refusal> {
  try {
    const page = await reading;
    return isRefusal(page) ? page : show(page);
  } catch (error) {
    if (!isPostgresFailure(error)) throw error;
    return html`<p class="note">${texts.list.away}</p>`;
  }
}

/** How far a list goes, where the index is behind the chain. */
export async function indexNote(
  { texts, el, read }: PageContext,
  indexedBlock: number | null,
): Promise<Html> {
  if (indexedBlock === null) return html`<p class="note">${texts.list.notBegun}</p>`;
  const { number } = await read.latest();
  // One block behind is how every index is for a moment.
  if (number - indexedBlock <= 1) return html``;
  return html`<p class="note">${texts.list.behind(el.integer(indexedBlock), el.integer(number))}</p>`;
}

export function empty(text: string): Html {
  return html`<p class="empty">${text}</p>`;
}

export function blockTable({ texts, el }: PageContext, rows: readonly BlockRow[]): Html {
  const { blocks } = texts;
  return table<BlockRow>({
    caption: blocks.caption,
    rows,
    columns: [
      { title: blocks.number, cell: ({ number }) => el.blockLink(number) },
      { title: blocks.age, cell: ({ timestamp }) => el.time(timestamp) },
      {
        title: blocks.transactions,
        number: true,
        cell: ({ transactionCount }) => el.integer(transactionCount),
      },
      {
        title: blocks.transfers,
        number: true,
        secondary: true,
        cell: ({ transferCount }) => el.integer(transferCount),
      },
      { title: blocks.gas, number: true, secondary: true, cell: ({ gasUsed }) => el.integer(gasUsed) },
      {
        title: blocks.proposer,
        cell: ({ proposer }) => (proposer === null || proposer === nobody ? "–" : el.addressLink(proposer)),
      },
      {
        title: blocks.size,
        number: true,
        secondary: true,
        cell: ({ size }) => texts.units.bytes(el.integer(size)),
      },
    ],
  });
}

/**
 * `account`: whose transactions these are, for marks of what came in and went out. `ofOneBlock`: the page says itself which
 * block it is, and when it was.
 */
export function transactionTable(
  { texts, el }: PageContext,
  rows: readonly TransactionRow[],
  { account, caption, ofOneBlock = false }: { account?: string; caption?: string; ofOneBlock?: boolean } = {},
): Html {
  const { transactions } = texts;
  const place: Column<TransactionRow>[] = [
    { title: transactions.block, secondary: true, cell: ({ blockNumber }) => el.blockLink(blockNumber) },
    { title: transactions.age, secondary: true, cell: ({ timestamp }) => el.time(timestamp) },
  ];
  const recipient = ({ to, contractCreated }: TransactionRow): string | Html => {
    if (to !== null) return el.addressLink(to);
    return contractCreated === null ? transactions.creation : el.addressLink(contractCreated);
  };
  const mark: Column<TransactionRow> = {
    title: texts.list.direction,
    cell: ({ from, to }) => directionMark(texts, { from, to, account }),
  };
  return table<TransactionRow>({
    caption: caption ?? transactions.caption,
    rows,
    columns: [
      { title: transactions.hash, cell: ({ hash }) => el.transactionLink(hash) },
      { title: transactions.status, cell: ({ status }) => el.status(status) },
      ...(ofOneBlock ? [] : place),
      { title: transactions.from, cell: ({ from }) => el.addressLink(from) },
      ...(account === undefined ? [] : [mark]),
      { title: transactions.to, cell: recipient },
      { title: transactions.value, number: true, cell: ({ value }) => el.tokens(value) },
    ],
  });
}

export function transferTable(
  { texts, el }: PageContext,
  rows: readonly TransferRecord[],
  { account, withTransaction = true }: { account?: string; withTransaction?: boolean } = {},
): Html {
  const { transfers, transactions } = texts;
  const party = (address: string, otherwise: string) =>
    address === nobody ? otherwise : el.addressLink(address);
  const mark: Column<TransferRecord> = {
    title: texts.list.direction,
    cell: ({ from, to }) => directionMark(texts, { from, to, account }),
  };
  const transaction: Column<TransferRecord> = {
    title: transfers.transaction,
    cell: ({ transactionHash }) => el.transactionLink(transactionHash),
  };
  const columns: Column<TransferRecord>[] = [
    {
      title: transfers.token,
      cell: ({ token }) => el.link(`token/${token.address}`, token.symbol ?? token.name ?? transfers.unnamed),
    },
    { title: transactions.from, cell: ({ from }) => party(from, transfers.minted) },
    ...(account === undefined ? [] : [mark]),
    { title: transactions.to, cell: ({ to }) => party(to, transfers.burned) },
    { title: transfers.amount, number: true, cell: (row) => amountOf(row, { el, texts }) },
  ];
  return table<TransferRecord>({
    caption: transfers.caption,
    rows,
    columns: withTransaction ? [transaction, ...columns] : columns,
  });
}

function amountOf(
  { value, tokenId, token }: TransferRecord,
  { el, texts }: Pick<PageContext, "el" | "texts">,
): string {
  const item = tokenId === null ? [] : [texts.transfers.item(tokenId)];
  const amount = value === null ? [] : [el.units(value, token.decimals)];
  return [...amount, ...item].join(" · ");
}

function directionMark(
  { transactions }: PageContext["texts"],
  { from, to, account }: { from: string; to: string | null; account: string | undefined },
): Html {
  const kind = from === to ? "self" : from === account ? "out" : "in";
  return html`<span class="direction ${kind}">${transactions[kind]}</span>`;
}
