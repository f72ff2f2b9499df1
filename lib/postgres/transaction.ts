import type { PooledConnection, PostgresPool } from "./postgres-pool.ts";
import type { Queryable } from "./queryable.ts";

/**
 * Runs `work` in one transaction on a connection of its own: what it changed is there as a whole once this resolves, and
 * nothing of it where `work` throws. Where the connection is lost while the commit is under way, nobody can tell which.
 *
 * Every query of `work` is awaited, and goes to the connection that it is given, not to the pool.
 *
 * @throws what `work` throws; TransactionAbortedError where it went on after a failed statement.
 */
export async function transaction<Result>(
  pool: Pick<PostgresPool, "connect">,
  work: (client: Queryable) => Promise<Result>,
): Promise<Result> {
  const connection = await pool.connect();
  let usable = false;
  try {
    await connection.query("begin");
    const result = await work(connection);
    const { command } = await connection.query("commit");
    usable = true;
    // PostgreSQL answers the commit of a failed transaction with ROLLBACK, and without an error.
    if (command !== "COMMIT") throw new TransactionAbortedError();
    return result;
  } catch (error) {
    usable ||= await rolledBack(connection);
    throw error;
  } finally {
    connection.release(!usable);
  }
}

/** A connection that cannot even roll back is ended; the server then does it by itself. */
async function rolledBack(connection: PooledConnection): Promise<boolean> {
  try {
    await connection.query("rollback");
    return true;
  } catch {
    return false;
  }
}

/** `work` caught a statement's failure and went on: PostgreSQL has dropped the whole. */
export class TransactionAbortedError extends Error {
  override readonly name = "TransactionAbortedError";

  constructor() {
    super("a statement of the transaction failed and was not passed on, so nothing of it was kept");
  }
}
