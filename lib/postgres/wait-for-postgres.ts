import { setTimeout as sleep } from "node:timers/promises";
import type { Logger } from "pino";
import { checkPostgres } from "./postgres-health.ts";
import { createPostgresPool } from "./postgres-pool.ts";

const retryMs = 500;
const sayEveryTries = 20;

/** Waits until PostgreSQL answers: a process may start before its database. */
export async function waitForPostgres({
  url,
  name,
  logger,
}: {
  url: string;
  /** Shown by pg_stat_activity. */
  name: string;
  logger: Pick<Logger, "info" | "warn">;
}): Promise<void> {
  const pool = createPostgresPool({ url, name, logger, connectionsMax: 1 });
  try {
    for (let tries = 0; ; tries += 1) {
      const health = await checkPostgres({ pool });
      if (health.up) return;
      if (tries % sayEveryTries === 0) logger.warn({ reason: health.reason }, "waiting for PostgreSQL");
      await sleep(retryMs);
    }
  } finally {
    await pool.end();
  }
}
