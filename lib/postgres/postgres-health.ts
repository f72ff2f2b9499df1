import { setTimeout as sleep } from "node:timers/promises";
import type { Queryable } from "./queryable.ts";

export type PostgresHealth = { up: true; tookMs: number } | { up: false; reason: string };

/** Whether PostgreSQL answers within `timeoutMs`, through the connections that requests use. */
export async function checkPostgres({
  pool,
  timeoutMs = 1000,
}: {
  pool: Pick<Queryable, "query">;
  timeoutMs?: number;
}): Promise<PostgresHealth> {
  const startMs = performance.now();
  const answered = new AbortController();
  const late = sleep(timeoutMs, undefined, { signal: answered.signal }).then(
    (): PostgresHealth => ({ up: false, reason: `PostgreSQL did not answer within ${timeoutMs} ms` }),
    (): PostgresHealth => ({ up: false, reason: "" }),
  );
  const asked = pool.query("select 1").then(
    (): PostgresHealth => ({ up: true, tookMs: performance.now() - startMs }),
    (error: unknown): PostgresHealth => ({ up: false, reason: reasonOf(error) }),
  );
  const health = await Promise.race([asked, late]);
  answered.abort();
  return health;
}

/** Why it cannot be asked, in PostgreSQL's or the system's words. */
export function reasonOf(error: unknown): string {
  // Where a name has several addresses the error that joins theirs has no words, only a code.
  if (error instanceof AggregateError) return error.errors.map(String).join("; ");
  return error instanceof Error ? error.message : String(error);
}
