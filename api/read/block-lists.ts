import { checksumAddress } from "../../lib/chain/checksum-address.ts";
import type { Queryable } from "../../lib/postgres/queryable.ts";
import { type Row, readHex, readInteger, readText } from "../../lib/postgres/row.ts";
import type { BlockRow } from "../records/block.ts";
import { timesOf } from "../records/values.ts";
import { type PageQuery, readPage } from "./page.ts";

const columns =
  "number, hash, time, proposer, gas_used::text, gas_limit::text, size, tx_count, transfer_count";

/** Blocks, newest first. */
export function listBlocks(db: Queryable, query: PageQuery) {
  return readPage({
    db,
    query,
    statement: ({ before, count }) => ({
      name: "blocks",
      text: `select ${columns} from chain.block where number < $1 order by number desc limit $2`,
      values: [before.block, count],
    }),
    toRecord: blockRowOf,
    placeOf: (row) => ({ block: readInteger(row, "number"), index: 0, item: 0 }),
  });
}

/** Blocks by their numbers, with one query; undefined where the index has none. In the order of `numbers`. */
export async function readBlockRows(
  db: Queryable,
  numbers: readonly number[],
): Promise<(BlockRow | undefined)[]> {
  const { rows } = await db.query({
    name: "blocks-by-number",
    text: `select ${columns} from chain.block where number = any($1::bigint[])`,
    values: [numbers],
  });
  const byNumber = new Map(rows.map(blockRowOf).map((block) => [block.number, block]));
  return numbers.map((number) => byNumber.get(number));
}

function blockRowOf(row: Row): BlockRow {
  const number = readInteger(row, "number");
  return {
    number,
    hash: readHex(row, "hash"),
    ...timesOf(readInteger(row, "time")),
    proposer: number === 0 ? null : checksumAddress(readHex(row, "proposer")),
    gasUsed: readText(row, "gas_used"),
    gasLimit: readText(row, "gas_limit"),
    size: readInteger(row, "size"),
    transactionCount: readInteger(row, "tx_count"),
    transferCount: readInteger(row, "transfer_count"),
  };
}
