import type { Logger } from "pino";
import type { Given } from "../../lib/cli/read-program.ts";
import type { ReadAgain } from "../../lib/reload/reloader.ts";
import type { StartedWorker } from "../../lib/workers/run-worker.ts";
import type { WorkerLink } from "../../lib/workers/worker-link.ts";
import type { ApiConfig } from "../config.ts";
import { start } from "../start.ts";
import { readSettings, tellSettings } from "./settings.ts";

/** Starts an API that shares its port. */
export async function startWorker(
  config: ApiConfig,
  {
    logger,
    given,
    readAgain,
    link: { task },
  }: { logger: Logger; given: Given; readAgain: ReadAgain<ApiConfig>; link: Pick<WorkerLink, "task"> },
): Promise<StartedWorker> {
  const told = readSettings(task.settings);
  const { pages, reloader, running, stop } = await start(config, {
    logger,
    readAgain,
    // Said once, at a start: a process that replaces another one may find a chain that nobody meant.
    adoptChain: task.isFirst && given.has("adopt-chain"),
    ...(told === undefined ? {} : { contracts: told.contracts }),
    isWorker: true,
  });
  return {
    ...pages,
    settings: () => tellSettings(running),
    stage(next) {
      const staged = reloader.stage(readSettings(next));
      return { ...staged, settings: staged.settings && tellSettings(staged.settings) };
    },
    refuse: reloader.refuse,
    stop,
  };
}
