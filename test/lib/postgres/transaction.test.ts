import t from "tap";
import { isPostgresFailure } from "../../../lib/postgres/postgres-failure.ts";
import { onlyRow, readInteger } from "../../../lib/postgres/row.ts";
import { TransactionAbortedError, transaction } from "../../../lib/postgres/transaction.ts";
import type { Teardown } from "../../../scripts/processes/teardown.ts";
import { createDatabase } from "../../helpers/postgres.ts";
import { createPool } from "./support/pool.ts";

async function createTable(t: Teardown) {
  const url = await createDatabase(t, { migrations: "none" });
  const { pool } = createPool(t, { url, connectionsMax: 1, connectTimeoutMs: 1000 });
  await pool.query("create table row (n int primary key)");
  const numbers = async () =>
    (await pool.query("select n from row order by n")).rows.map((row) => readInteger(row, "n"));
  return { url, pool, numbers };
}

t.test("what a transaction did is there as a whole, and its result comes back", async (t) => {
  const { pool, numbers } = await createTable(t);
  const result = await transaction(pool, async (client) => {
    await client.query("insert into row values (1)");
    await client.query("insert into row values (2)");
    return "done";
  });
  t.equal(result, "done");
  t.strictSame(await numbers(), [1, 2]);
});

t.test("nothing is left of a transaction that throws, and its connection is used again", async (t) => {
  const { pool, numbers } = await createTable(t);
  const { rows: before } = await pool.query("select pg_backend_pid()");
  await t.rejects(
    transaction(pool, async (client) => {
      await client.query("insert into row values (1)");
      throw new Error("a reason");
    }),
    { message: "a reason" },
  );
  await t.rejects(
    transaction(pool, async (client) => {
      await client.query("insert into row values (1)");
      await client.query("insert into row values (1)");
    }),
    { code: "23505" },
  );
  t.strictSame(await numbers(), []);
  t.strictSame((await pool.query("select pg_backend_pid()")).rows, before);
});

t.test("a transaction that hides a failed statement is told that nothing was kept", async (t) => {
  const { pool, numbers } = await createTable(t);
  await t.rejects(
    transaction(pool, async (client) => {
      await client.query("insert into row values (1)");
      await client.query("select 1 / 0").catch(() => {});
    }),
    TransactionAbortedError,
  );
  t.strictSame(await numbers(), []);
});

t.test("a transaction whose connection is lost fails, and the next has another", async (t) => {
  const { url, pool, numbers } = await createTable(t);
  const { pool: other } = createPool(t, { url });
  const error = await t.rejects(
    transaction(pool, async (client) => {
      const { rows } = await client.query("select pg_backend_pid() as pid");
      await client.query("insert into row values (1)");
      await other.query("select pg_terminate_backend($1)", [readInteger(onlyRow(rows), "pid")]);
      await client.query("insert into row values (2)");
    }),
  );
  t.ok(isPostgresFailure(error), String(error));
  t.strictSame(await numbers(), []);
});
