import type { Row } from "./row.ts";

/** A statement; one with a `name` is prepared once a connection, so the name belongs to that text alone. */
export type Statement = { name?: string; text: string; values?: unknown[] };

/** What carries statements out: a pool, or one connection of it (inside a transaction). */
export type Queryable = {
  query(statement: string | Statement, values?: unknown[]): Promise<QueryAnswer>;
};

export type QueryAnswer = {
  rows: Row[];
  /** Rows that were read or changed; null for statements that count none. */
  rowCount: number | null;
  /** The first word of what the server says that it did: `COMMIT`. */
  command: string;
};
