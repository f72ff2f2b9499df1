import { checksumAddress } from "../../lib/chain/checksum-address.ts";
import type { Queryable, Statement } from "../../lib/postgres/queryable.ts";
import {
  type Row,
  readBoolean,
  readHex,
  readInteger,
  readNullable,
  readText,
} from "../../lib/postgres/row.ts";
import type { TransactionRow } from "../records/transaction.ts";
import { timesOf } from "../records/values.ts";
import { bytesOf } from "./columns.ts";
import type { Cursor } from "./cursor.ts";
import { type PageQuery, readPage, readPages } from "./page.ts";

export type Direction = "in" | "out" | "both";

export type TransactionFilter = {
  direction: Direction;
  status?: "success" | "failed" | undefined;
  /** Days in UTC, both counted in. */
  from?: string | undefined;
  to?: string | undefined;
};

const columns = `t.block, t.index, t.hash, t.sender, t.recipient, t.created, t.value::text, t.nonce, t.fee::text,
  t.gas_used::text, t.ok, t.type, t.selector, b.time`;
const newestFirst = "order by t.block desc, t.index desc";

/** A page's rows are found first and joined then: else the planner may join whole tables in their order. */
const withTimes = (rows: string) =>
  `select ${columns} from (${rows}) t join chain.block b on b.number = t.block ${newestFirst}`;

/** All transactions, newest first. */
export function listTransactions(db: Queryable, query: PageQuery) {
  return readTransactions(db, query, ({ before, count }) => ({
    name: "transactions",
    text: withTimes(`select * from chain.tx t where (t.block, t.index) < ($1, $2) ${newestFirst} limit $3`),
    values: [before.block, before.index, count],
  }));
}

/** Transactions that created a contract, newest first. */
export function listCreations(db: Queryable, query: PageQuery) {
  return readTransactions(db, query, ({ before, count }) => ({
    name: "creations",
    text: withTimes(`select * from chain.tx t
      where t.created is not null and (t.block, t.index) < ($1, $2) ${newestFirst} limit $3`),
    values: [before.block, before.index, count],
  }));
}

/** A block's transactions, in reverse of their order. */
export function listBlockTransactions(db: Queryable, block: number, query: PageQuery) {
  return readTransactions(db, query, ({ before, count }) => ({
    name: "block-transactions",
    text: withTimes(`select * from chain.tx t
      where t.block = $1 and (t.block, t.index) < ($2, $3) ${newestFirst} limit $4`),
    values: [block, before.block, before.index, count],
  }));
}

/** The same page of several blocks' transactions, with one query; in the order of `blocks`. */
export function listTransactionsOfBlocks(db: Queryable, blocks: readonly number[], query: PageQuery) {
  return readPages({
    db,
    query,
    parents: blocks,
    parentOf: (row) => readInteger(row, "block"),
    statement: ({ before, count }) => ({
      name: "transactions-of-blocks",
      text: `select ${columns} from unnest($1::bigint[]) p (block)
        cross join lateral (select * from chain.tx t
          where t.block = p.block and (t.block, t.index) < ($2, $3) ${newestFirst} limit $4) t
        join chain.block b on b.number = t.block ${newestFirst}`,
      values: [blocks, before.block, before.index, count],
    }),
    ...asTransactions,
  });
}

/**
 * An account's transactions, newest first. Each direction has an index of its own, so each is read by its own and the
 * two are merged; one to oneself is in the first only.
 */
export function listAccountTransactions(
  db: Queryable,
  account: string,
  { direction, status, from, to, ...query }: TransactionFilter & PageQuery,
) {
  // A condition of its own, not a parameter: failed ones have an index, which the planner finds by it.
  const outcome = status === undefined ? "" : status === "failed" ? "and not t.ok" : "and t.ok";
  const side = (condition: string) => `(select * from chain.tx t
    where ${condition} ${outcome} and (t.block, t.index) < ($2, $3)
      and ($5::bigint is null or t.block >= $5) and ($6::bigint is null or t.block < $6) ${newestFirst} limit $4)`;
  const sides = {
    out: [side("t.sender = $1")],
    in: [side("t.recipient = $1")],
    both: [side("t.sender = $1"), side("t.recipient = $1 and t.sender <> $1")],
  }[direction];
  return withBlocksOfDays(db, { from, to }, ({ fromBlock, toBlock }) =>
    readTransactions(db, query, ({ before, count }) => ({
      name: `account-transactions-${direction}-${status ?? "all"}`,
      text: withTimes(`select * from (${sides.join(" union all ")}) t ${newestFirst} limit $4`),
      values: [bytesOf(account), before.block, before.index, count, fromBlock, toBlock],
    })),
  );
}

/** Block numbers of a span of days: times grow with numbers, so each end is one look-up in the primary key. */
async function withBlocksOfDays<Result>(
  db: Queryable,
  { from, to }: { from: string | undefined; to: string | undefined },
  read: (blocks: { fromBlock: number | null; toBlock: number | null }) => Promise<Result>,
): Promise<Result> {
  const [fromBlock, toBlock] = await Promise.all([
    from === undefined ? null : firstBlockAt(db, Date.parse(`${from}T00:00:00Z`) / 1000),
    to === undefined ? null : firstBlockAt(db, Date.parse(`${to}T00:00:00Z`) / 1000 + daySeconds),
  ]);
  return read({ fromBlock, toBlock });
}

const daySeconds = 86_400;

/** The first block not older than a time: a bisection over the primary key, since there is no index by time. */
async function firstBlockAt(db: Queryable, unixSeconds: number): Promise<number> {
  const { rows } = await db.query({
    name: "first-block-at",
    text: `with recursive bisect (low, high) as (
        select 0::bigint, coalesce((select next from chain.follower), 0)
        union all
        select case when b.time < $1 then (low + high) / 2 + 1 else low end,
               case when b.time < $1 then high else (low + high) / 2 end
        from bisect join chain.block b on b.number = (low + high) / 2
        where low < high
      ) select low as block from bisect where low >= high limit 1`,
    values: [unixSeconds],
  });
  const [row] = rows;
  return row === undefined ? 0 : readInteger(row, "block");
}

function readTransactions(
  db: Queryable,
  query: PageQuery,
  statement: (input: { before: Cursor; count: number }) => Statement,
) {
  return readPage({ db, query, statement, ...asTransactions });
}

const asTransactions = {
  toRecord: transactionRowOf,
  placeOf: (row: Row) => ({ block: readInteger(row, "block"), index: readInteger(row, "index"), item: 0 }),
};

function transactionRowOf(row: Row): TransactionRow {
  const recipient = readNullable(readHex, row, "recipient");
  const created = readNullable(readHex, row, "created");
  return {
    hash: readHex(row, "hash"),
    blockNumber: readInteger(row, "block"),
    index: readInteger(row, "index"),
    ...timesOf(readInteger(row, "time")),
    status: readBoolean(row, "ok") ? "success" : "failed",
    from: checksumAddress(readHex(row, "sender")),
    to: recipient === null ? null : checksumAddress(recipient),
    contractCreated: created === null ? null : checksumAddress(created),
    value: readText(row, "value"),
    nonce: readInteger(row, "nonce"),
    fee: readText(row, "fee"),
    gasUsed: readText(row, "gas_used"),
    type: readInteger(row, "type"),
    selector: readNullable(readHex, row, "selector"),
  };
}
