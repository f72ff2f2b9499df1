import type { Logger } from "pino";
import { createReloader, type ReadAgain, type Reloader } from "../lib/reload/reloader.ts";
import type { ApiConfig } from "./config.ts";

/** What may change while the API runs. All else is fixed when its parts are made. */
const live = ["log.level"] as const;

/** Has a running API read its configuration again. */
export function createApiReloader({
  running,
  readAgain,
  logger,
}: {
  /** What the API's parts read. It is changed in place. */
  running: ApiConfig;
  readAgain: ReadAgain<ApiConfig>;
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
      },
    }),
    logger,
  });
}
