import type { Logger } from "pino";
import { createReloader, type ReadAgain, type Reloader } from "../lib/reload/reloader.ts";
import { type ApiConfig, pointsOf } from "./config.ts";
import type { AdjustableLimiter } from "./limits/request-limiter.ts";

/** What may change while the API runs. All else is fixed when its parts are made. */
const live = ["log.level", "limits.points", "origins"] as const;

/** Has a running API read its configuration again. */
export function createApiReloader({
  running,
  readAgain,
  limiter,
  logger,
}: {
  /** What the API's parts read. It is changed in place. */
  running: ApiConfig;
  readAgain: ReadAgain<ApiConfig>;
  limiter: Pick<AdjustableLimiter, "allow">;
  logger: Logger;
}): Reloader {
  return createReloader({
    running,
    readAgain,
    load: (config) => config,
    comparable: (config) => ({ ...config }),
    live,
    prepare: (next) => ({
      commit() {
        logger.level = next.log.level;
        limiter.allow(pointsOf(next));
        running.limits.points = next.limits.points;
        // The listener has this list.
        running.origins.splice(0, running.origins.length, ...next.origins);
      },
    }),
    logger,
  });
}
