import { checksumAddress } from "../../lib/chain/checksum-address.ts";
import type { Queryable, Statement } from "../../lib/postgres/queryable.ts";
import { type Row, readHex, readInteger, readNullable, readText } from "../../lib/postgres/row.ts";
import type { TransferRecord } from "../records/transaction.ts";
import { timesOf } from "../records/values.ts";
import { bytesOf, tokenKindOf } from "./columns.ts";
import type { Cursor } from "./cursor.ts";
import { type PageQuery, readPage } from "./page.ts";
import type { Direction } from "./transaction-lists.ts";

const columns = `f.block, f.log_index, f.item, f.token, f.sender, f.recipient, f.value::text, f.token_id::text,
  b.time, x.hash, k.kind, k.name, k.symbol, k.decimals`;
const below = "(f.block, f.log_index, f.item) < ($2, $3, $4)";
const newestFirst = "order by f.block desc, f.log_index desc, f.item desc";

/** A page's rows are found first and joined then: else the planner may join whole tables in their order. */
const withFacts = (rows: string) => `select ${columns} from (${rows}) f
  join chain.block b on b.number = f.block join chain.tx x on x.block = f.block and x.index = f.tx_index
  left join chain.token k on k.address = f.token ${newestFirst}`;
const side = (condition: string) =>
  `(select * from chain.transfer f where ${condition} and ${below} ${newestFirst} limit $5)`;

/** Transfers of tokens from or to an account, newest first. */
export function listAccountTransfers(
  db: Queryable,
  account: string,
  { direction, ...query }: { direction: Direction } & PageQuery,
) {
  const sides = {
    out: [side("f.sender = $1")],
    in: [side("f.recipient = $1")],
    both: [side("f.sender = $1"), side("f.recipient = $1 and f.sender <> $1")],
  }[direction];
  return readTransfers(db, query, ({ before, count }) => ({
    name: `account-transfers-${direction}`,
    text: withFacts(`select * from (${sides.join(" union all ")}) f ${newestFirst} limit $5`),
    values: [bytesOf(account), before.block, before.index, before.item, count],
  }));
}

/** Transfers of one token, newest first. */
export function listTokenTransfers(db: Queryable, token: string, query: PageQuery) {
  return readTransfers(db, query, ({ before, count }) => ({
    name: "token-transfers",
    text: withFacts(side("f.token = $1")),
    values: [bytesOf(token), before.block, before.index, before.item, count],
  }));
}

function readTransfers(
  db: Queryable,
  query: PageQuery,
  statement: (input: { before: Cursor; count: number }) => Statement,
) {
  return readPage({
    db,
    query,
    statement,
    toRecord: transferOf,
    placeOf: (row) => ({
      block: readInteger(row, "block"),
      index: readInteger(row, "log_index"),
      item: readInteger(row, "item"),
    }),
  });
}

function transferOf(row: Row): TransferRecord {
  return {
    blockNumber: readInteger(row, "block"),
    logIndex: readInteger(row, "log_index"),
    transactionHash: readHex(row, "hash"),
    ...timesOf(readInteger(row, "time")),
    token: {
      address: checksumAddress(readHex(row, "token")),
      kind: tokenKindOf(readNullable(readText, row, "kind")),
      name: readNullable(readText, row, "name"),
      symbol: readNullable(readText, row, "symbol"),
      decimals: readNullable(readInteger, row, "decimals"),
    },
    from: checksumAddress(readHex(row, "sender")),
    to: checksumAddress(readHex(row, "recipient")),
    value: readNullable(readText, row, "value"),
    tokenId: readNullable(readText, row, "token_id"),
  };
}
