import type { Logger } from "pino";
import type { ReadAgain } from "../../lib/reload/reloader.ts";
import type { StartedWorker } from "../../lib/workers/run-worker.ts";
import type { WorkerLink } from "../../lib/workers/worker-link.ts";
import type { GatewayConfig } from "../config.ts";
import { start } from "../start.ts";
import { readSettings, tellSettings } from "./settings.ts";

/** Starts a gateway that shares its port, with the head that the process `head` follows. */
export async function startWorker(
  config: GatewayConfig,
  { logger, readAgain, link }: { logger: Logger; readAgain: ReadAgain<GatewayConfig>; link: WorkerLink },
): Promise<StartedWorker> {
  const told = readSettings(link.task.settings);
  const { pages, reloader, running, stop } = await start(config, {
    logger,
    readAgain,
    ...(told === undefined ? {} : { methods: told.methods }),
    worker: {
      headSource: {
        onParts: link.onParts,
        lookSoon: () => link.say({ kind: "told", value: "look soon" }),
      },
    },
  });
  return {
    ...pages,
    settings: () => tellSettings(running),
    stage(given) {
      const staged = reloader.stage(readSettings(given));
      return { ...staged, settings: staged.settings && tellSettings(staged.settings) };
    },
    refuse: reloader.refuse,
    stop,
  };
}
