import { pino } from "pino";
import { connectPostgres } from "../../../lib/postgres/postgres-connection.ts";
import type { Row } from "../../../lib/postgres/row.ts";

const tables = {
  follower: "one",
  block: "number",
  seal: "block, validator",
  tx: "block, index",
  transfer: "block, log_index, item",
  token: "address",
  burn: "block, log_index",
  burn_total: "source, day",
} as const;

export type IndexTables = Record<keyof typeof tables, Row[]>;

/** Every row of the index as JSON; bytes are `\x` and hex digits. The epoch is left out: it counts earlier chains. */
export async function readIndex(url: string): Promise<IndexTables> {
  const connection = await connectPostgres({ url, name: "test", logger: pino({ level: "silent" }) });
  const rowsOf = async (table: keyof typeof tables) => {
    const { rows } = await connection.query(
      `select to_jsonb(row) - 'epoch' as row from chain.${table} as row order by ${tables[table]}`,
    );
    return rows.map(({ row }) => Object.fromEntries(Object.entries(Object(row))));
  };
  try {
    return {
      follower: await rowsOf("follower"),
      block: await rowsOf("block"),
      seal: await rowsOf("seal"),
      tx: await rowsOf("tx"),
      transfer: await rowsOf("transfer"),
      token: await rowsOf("token"),
      burn: await rowsOf("burn"),
      burn_total: await rowsOf("burn_total"),
    };
  } finally {
    await connection.end();
  }
}

/** The differences between two indexes, one line for each table; empty where they are equal. */
export function differences(one: IndexTables, other: IndexTables): string[] {
  return Object.keys(tables).flatMap((name) => {
    const [ours, theirs] = [one, other].map((index) =>
      Object.entries(index)
        .filter(([table]) => table === name)
        .flatMap(([, rows]) => rows.map((row) => JSON.stringify(row))),
    );
    const first = (ours ?? []).findIndex((row, index) => row !== theirs?.[index]);
    if (first === -1 && ours?.length === theirs?.length) return [];
    const at = first === -1 ? (ours?.length ?? 0) : first;
    return [
      `${name}: ${ours?.length} and ${theirs?.length} rows; row ${at}: ${ours?.[at]} and ${theirs?.[at]}`,
    ];
  });
}
