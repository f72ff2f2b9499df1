import type { Logger } from "pino";

/**
 * One line for each kind of failure: when a server goes away, all of a pool's connections say the same.
 */
export function logConnectionErrors({
  name,
  logger,
}: {
  name: string;
  logger: Pick<Logger, "info" | "warn">;
}) {
  let lastSaid: string | undefined;
  return {
    lost(error: Error): void {
      if (error.message === lastSaid) return;
      lastSaid = error.message;
      logger.warn({ connection: name, error: error.message }, "PostgreSQL connection lost");
    },
    connected(): void {
      if (lastSaid !== undefined) logger.info({ connection: name }, "PostgreSQL connection ready");
      lastSaid = undefined;
    },
  };
}
