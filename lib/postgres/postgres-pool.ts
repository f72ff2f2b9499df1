import { type ClientBase, Pool } from "pg";
import type { Logger } from "pino";
import { logConnectionErrors } from "./log-connection-errors.ts";
import type { Queryable } from "./queryable.ts";
import { applySessionSettings, type SessionSettings } from "./session-settings.ts";
import { valueTypes } from "./value-types.ts";

/** One connection of a pool, taken out. `release(true)` ends it instead of giving it back. */
export type PooledConnection = Queryable & { release(destroy?: boolean): void };

export type PostgresPool = Queryable & {
  connect(): Promise<PooledConnection>;
  /** Resolves when each connection was given back and ended. */
  end(): Promise<void>;
  readonly totalCount: number;
  readonly idleCount: number;
  readonly waitingCount: number;
};

/**
 * Connections to PostgreSQL for requests that must not wait: a statement is ended by the server after
 * `statementTimeoutMs`, waiting for a lock after `lockTimeoutMs`, and a server that says nothing at all (stopped, network
 * gone) is left a second after that. Connecting, and waiting for a free connection, takes at most `connectTimeoutMs`.
 *
 * - A connection that is lost while nobody uses it is logged and replaced; one that is lost in use fails its query. Neither
 *   ends the process.
 * - Statements are planned for the values that they have (`plan_cache_mode`): a prepared statement's generic plan took 20
 *   times as long for a list of transfers.
 * - `int8` and `numeric` come as text, `date` as `YYYY-MM-DD`: read rows through row.ts.
 * - Nothing connects before the first query.
 */
export function createPostgresPool({
  url,
  name,
  logger,
  connectionsMax = 10,
  statementTimeoutMs = 5000,
  lockTimeoutMs = 2000,
  idleInTransactionTimeoutMs = 10_000,
  connectTimeoutMs = 2000,
  idleTimeoutMs = 30_000,
}: {
  url: string;
  /** Shown by pg_stat_activity: the process and what the connections are for. */
  name: string;
  logger: Pick<Logger, "info" | "warn">;
  connectionsMax?: number;
  connectTimeoutMs?: number;
  /** A connection that nobody used for so long is ended. */
  idleTimeoutMs?: number;
} & Partial<SessionSettings>): PostgresPool {
  const settings: SessionSettings = { statementTimeoutMs, lockTimeoutMs, idleInTransactionTimeoutMs };
  const pool = new Pool({
    connectionString: url,
    application_name: name,
    max: connectionsMax,
    connectionTimeoutMillis: connectTimeoutMs,
    idleTimeoutMillis: idleTimeoutMs,
    keepAlive: true,
    query_timeout: statementTimeoutMs + answerGraceMs,
    types: valueTypes,
    onConnect: (client: ClientBase) => applySessionSettings(client, settings),
  });
  const errors = logConnectionErrors({ name, logger });
  pool.on("error", errors.lost);
  // The pool listens to idle connections alone: without this, one that the server ends while it is taken out ends the process.
  pool.on("connect", (client) => {
    errors.connected();
    client.on("error", errors.lost);
  });
  return pool;
}

/** The server ends a statement by itself; only one that cannot speak any more takes longer. */
const answerGraceMs = 1000;
