import type { Queryable } from "./queryable.ts";

/** What holds for each statement of a connection; 0 is no limit. */
export type SessionSettings = {
  statementTimeoutMs: number;
  /** How long a statement waits for a lock that another transaction holds. */
  lockTimeoutMs: number;
  /** A transaction that asks nothing for so long is ended together with its connection: it holds locks and old rows. */
  idleInTransactionTimeoutMs: number;
};

/**
 * Set by a statement, not by the connection's options: those of a connection URL would replace ours, and a pooler between
 * us and the server refuses options that it does not know.
 */
export async function applySessionSettings(
  connection: Pick<Queryable, "query">,
  { statementTimeoutMs, lockTimeoutMs, idleInTransactionTimeoutMs }: SessionSettings,
): Promise<void> {
  const settings = {
    statement_timeout: String(statementTimeoutMs),
    lock_timeout: String(lockTimeoutMs),
    idle_in_transaction_session_timeout: String(idleInTransactionTimeoutMs),
    plan_cache_mode: "force_custom_plan",
    timezone: "UTC",
  };
  await connection.query(
    "select set_config(name, value, false) from unnest($1::text[], $2::text[]) as setting (name, value)",
    [Object.keys(settings), Object.values(settings)],
  );
}
