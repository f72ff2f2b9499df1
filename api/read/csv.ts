import { isRefusal, type Refusal } from "../../lib/http-service/refusal.ts";
import type { Queryable } from "../../lib/postgres/queryable.ts";
import type { TransactionRow, TransferRecord } from "../records/transaction.ts";
import type { Page, PageQuery } from "./page.ts";
import { type Direction, listAccountTransactions, type TransactionFilter } from "./transaction-lists.ts";
import { listAccountTransfers } from "./transfer-lists.ts";

const rowsMax = 10_000;
/** Joined row by row; of more the planner would rather read whole tables. */
const rowsAtOnce = 250;

type Column<Row> = readonly [string, (row: Row) => string | number | null];

/** An account's transactions, newest first, with a line of column names. */
export function transactionCsv(db: Queryable, account: string, filter: TransactionFilter): Promise<string> {
  return csvOf<TransactionRow>(
    [
      ["blockNumber", ({ blockNumber }) => blockNumber],
      ["timestamp", ({ timestamp }) => timestamp],
      ["hash", ({ hash }) => hash],
      ["status", ({ status }) => status],
      ["from", ({ from }) => from],
      ["to", ({ to, contractCreated }) => to ?? contractCreated],
      ["valueWei", ({ value }) => value],
      ["feeWei", ({ fee }) => fee],
      ["nonce", ({ nonce }) => nonce],
    ],
    (query) => listAccountTransactions(db, account, { ...filter, ...query }),
  );
}

/** An account's transfers of tokens, newest first. */
export function transferCsv(
  db: Queryable,
  account: string,
  filter: { direction: Direction },
): Promise<string> {
  return csvOf<TransferRecord>(
    [
      ["blockNumber", ({ blockNumber }) => blockNumber],
      ["timestamp", ({ timestamp }) => timestamp],
      ["transactionHash", ({ transactionHash }) => transactionHash],
      ["logIndex", ({ logIndex }) => logIndex],
      ["token", ({ token }) => token.address],
      ["symbol", ({ token }) => token.symbol],
      ["from", ({ from }) => from],
      ["to", ({ to }) => to],
      ["value", ({ value }) => value],
      ["tokenId", ({ tokenId }) => tokenId],
    ],
    (query) => listAccountTransfers(db, account, { ...filter, ...query }),
  );
}

async function csvOf<Row>(
  columns: readonly Column<Row>[],
  readPage: (query: PageQuery) => Promise<Page<Row> | Refusal>,
): Promise<string> {
  const lines = [columns.map(([name]) => name).join(",")];
  let cursor: string | undefined;
  do {
    const page = await readPage({ limit: Math.min(rowsAtOnce, rowsMax + 1 - lines.length), cursor });
    // The chain was reset between two pages: what was read is of one chain, and stays.
    if (isRefusal(page)) break;
    for (const row of page.data) lines.push(columns.map(([, value]) => csvField(value(row))).join(","));
    cursor = page.nextCursor ?? undefined;
  } while (cursor !== undefined && lines.length <= rowsMax);
  return `${lines.join("\r\n")}\r\n`;
}

/**
 * A field by RFC 4180. A token's symbol is whatever its contract says, and a spreadsheet runs a text that begins with one
 * of these signs as a formula: an apostrophe before it keeps it a text.
 */
export function csvField(value: string | number | null, separator: "," | ";" = ","): string {
  const text = value === null ? "" : String(value);
  const safe = /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
  return safe.includes(separator) || /["\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
