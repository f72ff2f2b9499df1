import { type Refusal, refusal } from "../../lib/http-service/refusal.ts";
import type { Queryable, Statement } from "../../lib/postgres/queryable.ts";
import { onlyRow, type Row, readBytes, readInteger, readNullable } from "../../lib/postgres/row.ts";
import { type Cursor, decodeCursor, encodeCursor } from "./cursor.ts";

/** One page of a list, newest first. */
export type Page<Record> = {
  data: Record[];
  /** Where each row ends: for GraphQL's edges, while REST tells of the last one alone. */
  cursors: string[];
  nextCursor: string | null;
  indexedBlock: number | null;
};

export type PageQuery = { limit: number; cursor?: string | undefined };

/** How far the index is: its epoch, and the last block that it has. */
export type IndexState = { epoch: number; indexedBlock: number | null; genesisHash: Buffer | null };

export async function readIndexState(db: Queryable): Promise<IndexState> {
  const { rows } = await db.query({
    name: "index-state",
    text: "select epoch, next, genesis_hash from chain.follower",
  });
  if (rows.length === 0) return { epoch: 0, indexedBlock: null, genesisHash: null };
  const row = onlyRow(rows);
  const next = readInteger(row, "next");
  return {
    epoch: readInteger(row, "epoch"),
    indexedBlock: next === 0 ? null : next - 1,
    genesisHash: readNullable(readBytes, row, "genesis_hash"),
  };
}

/**
 * Reads one row more than a page has, to know whether there is another page. Rows below the cursor only, so that what
 * is inserted above it moves nothing: joined pages are the list as it was when its first page was read.
 */
export async function readPage<Record>(list: List<Record>): Promise<Page<Record> | Refusal> {
  const read = await readRows(list);
  return "refused" in read ? read : pageOf(list, { rows: read.rows, state: read.state });
}

/**
 * The same page of several lists, with one query for all: `parents` in their order, each with the rows that `parentOf`
 * says are its own. `count` is then meant for each list.
 */
export async function readPages<Record>({
  parents,
  parentOf,
  ...list
}: List<Record> & { parents: readonly number[]; parentOf: (row: Row) => number }): Promise<
  Page<Record>[] | Refusal
> {
  const read = await readRows(list);
  if ("refused" in read) return read;
  const byParent = Map.groupBy(read.rows, parentOf);
  return parents.map((parent) => pageOf(list, { rows: byParent.get(parent) ?? [], state: read.state }));
}

type List<Record> = {
  db: Queryable;
  query: PageQuery;
  /** Rows strictly below `before` in the list's order, at most `count`. */
  statement: (input: { before: Cursor; count: number }) => Statement;
  toRecord: (row: Row) => Record;
  placeOf: (row: Row) => Omit<Cursor, "epoch">;
};

async function readRows({
  db,
  query: { limit, cursor },
  statement,
}: Pick<List<unknown>, "db" | "query" | "statement">): Promise<{ rows: Row[]; state: IndexState } | Refusal> {
  const state = await readIndexState(db);
  const before = cursor === undefined ? firstOf(state) : decodeCursor(cursor);
  if (before === undefined) return wrongCursor("The cursor is not one of this API's");
  if (before.epoch !== state.epoch) {
    return wrongCursor("The cursor belongs to a chain that is gone: begin with the first page");
  }
  const { rows } = await db.query(statement({ before, count: limit + 1 }));
  return { rows, state };
}

function pageOf<Record>(
  { query: { limit }, toRecord, placeOf }: Pick<List<Record>, "query" | "toRecord" | "placeOf">,
  { rows, state: { epoch, indexedBlock } }: { rows: Row[]; state: IndexState },
): Page<Record> {
  const page = rows.slice(0, limit);
  const cursors = page.map((row) => encodeCursor({ epoch, ...placeOf(row) }));
  return {
    data: page.map(toRecord),
    cursors,
    nextCursor: rows.length > limit ? (cursors.at(-1) ?? null) : null,
    indexedBlock,
  };
}

/** Just above the last block that the page says it has, so a block indexed between the two queries is left out. */
function firstOf({ epoch, indexedBlock }: IndexState): Cursor {
  return { epoch, block: (indexedBlock ?? -1) + 1, index: 0, item: 0 };
}

function wrongCursor(message: string): Refusal {
  return refusal("invalid_params", "A parameter cannot be used; see errors", {
    errors: [{ pointer: "#/query/cursor", message }],
  });
}
