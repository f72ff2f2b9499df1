import { Client } from "pg";
import type { Logger } from "pino";
import { logConnectionErrors } from "./log-connection-errors.ts";
import type { Queryable } from "./queryable.ts";
import { applySessionSettings, type SessionSettings } from "./session-settings.ts";
import { valueTypes } from "./value-types.ts";

export type PostgresConnection = Queryable & {
  /** Resolves when the connection has ended, by us or by the server. */
  readonly ended: Promise<void>;
  onNotification(listen: (notification: { channel: string; payload: string }) => void): void;
  end(): Promise<void>;
};

/**
 * One connection outside the pool, for what belongs to a session: an advisory lock, LISTEN, migrations. Limits are 0 (none)
 * unless given. It does not come back by itself: whoever holds it watches `ended`, since what the session held is gone.
 *
 * @throws Error where it cannot connect within `connectTimeoutMs`.
 */
export async function connectPostgres({
  url,
  name,
  logger,
  statementTimeoutMs = 0,
  lockTimeoutMs = 0,
  idleInTransactionTimeoutMs = 0,
  connectTimeoutMs = 2000,
}: {
  url: string;
  /** Shown by pg_stat_activity: the process and what the connection is for. */
  name: string;
  logger: Pick<Logger, "info" | "warn">;
  connectTimeoutMs?: number;
} & Partial<SessionSettings>): Promise<PostgresConnection> {
  const client = new Client({
    connectionString: url,
    application_name: name,
    connectionTimeoutMillis: connectTimeoutMs,
    keepAlive: true,
    types: valueTypes,
  });
  const ended = new Promise<void>((resolve) => client.on("end", resolve));
  client.on("error", logConnectionErrors({ name, logger }).lost);
  await client.connect();
  try {
    await applySessionSettings(client, { statementTimeoutMs, lockTimeoutMs, idleInTransactionTimeoutMs });
  } catch (error) {
    await client.end();
    throw error;
  }
  return {
    query: (statement, values) => client.query(statement, values),
    ended,
    onNotification(listen) {
      client.on("notification", ({ channel, payload = "" }) => listen({ channel, payload }));
    },
    async end() {
      await client.end();
    },
  };
}
