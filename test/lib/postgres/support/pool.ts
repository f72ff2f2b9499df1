import { pino } from "pino";
import { createPostgresPool } from "../../../../lib/postgres/postgres-pool.ts";
import type { Teardown } from "../../../../scripts/processes/teardown.ts";

type PoolOptions = Omit<Parameters<typeof createPostgresPool>[0], "url" | "name" | "logger">;

/** A pool that ends with the test, and the lines that it logs. */
export function createPool(t: Teardown, { url, ...options }: PoolOptions & { url: string }) {
  const lines: string[] = [];
  const logger = pino({ level: "info" }, { write: (line: string) => void lines.push(line) });
  const pool = createPostgresPool({ url, name: "test", logger, ...options });
  t.teardown(() => pool.end());
  return { pool, lines };
}
