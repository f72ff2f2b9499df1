import type { Logger } from "pino";
import { createReloader, type ReadAgain, type Reloader } from "../lib/reload/reloader.ts";
import type { FaucetConfig } from "./config.ts";

/** What may change while the faucet runs. All else is fixed when its parts are made. The allowlist's file is watched anyway. */
const live = [
  "log.level",
  "limits.perAddress",
  "limits.perClient",
  "limits.perTeam",
  "limits.overall",
] as const;

/** Has a running faucet read its configuration again. */
export function createFaucetReloader({
  running,
  readAgain,
  logger,
}: {
  /** What the faucet's parts read. It is changed in place. */
  running: FaucetConfig;
  readAgain: ReadAgain<FaucetConfig>;
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
        Object.assign(running.limits, next.limits);
      },
    }),
    logger,
  });
}
