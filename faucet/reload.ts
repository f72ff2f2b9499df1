import type { Logger } from "pino";
import { namesOf } from "../lib/reload/reload-table.ts";
import { createReloader, type ReadAgain, type Reloader } from "../lib/reload/reloader.ts";
import { takeLive } from "../lib/reload/take-live.ts";
import { readAllowlist } from "./allowlist/read-allowlist.ts";
import type { AllowlistWatch } from "./allowlist/watch-allowlist.ts";
import type { FaucetConfig } from "./config.ts";
import { reloadTable } from "./reload-table.ts";

const live = namesOf(reloadTable.live);

/** Has a running faucet read its configuration again. */
export function createFaucetReloader({
  running,
  readAgain,
  allowlist,
  logger,
}: {
  /** What the faucet's parts read. It is changed in place. */
  running: FaucetConfig;
  readAgain: ReadAgain<FaucetConfig>;
  allowlist: Pick<AllowlistWatch, "look">;
  logger: Logger;
}): Reloader {
  return createReloader({
    running,
    readAgain,
    load(config) {
      // One that has become bad since it was taken is told of by its watch, and holds nothing else up.
      if (config.allowlistFile !== running.allowlistFile) readAllowlist(config.allowlistFile);
      return config;
    },
    comparable: (config) => structuredClone(config),
    live,
    secret: reloadTable.secret,
    prepare: (next) => ({
      commit() {
        takeLive(running, next, live);
        logger.level = running.log.level;
        allowlist.look();
      },
    }),
    logger,
  });
}
