import type { Queryable } from "../../../lib/postgres/queryable.ts";

/** A row of a table of schema `svc`, by its columns. */
export async function insertRow(
  db: Pick<Queryable, "query">,
  table: string,
  values: Readonly<Record<string, unknown>>,
): Promise<void> {
  const columns = Object.keys(values);
  await db.query(
    `insert into svc.${table} (${columns.join(", ")}) values (${columns.map((_, index) => `$${index + 1}`).join(", ")})`,
    Object.values(values),
  );
}
