import { setTimeout as wait } from "node:timers/promises";
import type { Logger } from "pino";
import { collectDefaultMetrics, Registry } from "prom-client";
import type { StartedWorker } from "../../lib/workers/run-worker.ts";
import type { WorkerLink } from "../../lib/workers/worker-link.ts";
import type { GatewayConfig } from "../config.ts";
import { resumeFrom } from "../upstream/head/remote-head.ts";
import { createSharedHead } from "../upstream/head/shared-head.ts";
import { registerHeadMetrics } from "../upstream/head-metrics.ts";
import { followedOf, headOptions } from "../upstream/upstream.ts";
import { readSettings } from "./settings.ts";

/** It takes the place of another one once it knows the validators, or after so long without them. */
const headWaitMs = 2500;

/**
 * Starts the process that follows the validators for all workers: one set of connections to each, however many workers there
 * are. It goes on from what its predecessor has announced, so that no number falls and no block is left out.
 */
export async function startHead(
  config: GatewayConfig,
  { logger, link }: { logger: Logger; link: WorkerLink },
): Promise<StartedWorker> {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  let current = config;
  const told = Promise.withResolvers<void>();
  const head = createSharedHead({
    ...headOptions(config),
    resume: resumeFrom(link.task.parts),
    publish(parts) {
      link.say({ kind: "parts", parts });
      told.resolve();
    },
    logger,
  });
  registerHeadMetrics({ registry, head });
  link.onTold(() => head.lookSoon());
  await Promise.race([told.promise, wait(headWaitMs, undefined, { ref: false })]);
  return {
    registry,
    readiness: () => ({ ready: true, reasons: [] }),
    status: () => ({ chain: head.epoch() }),
    settings: () => undefined,
    /** The workers have judged them. */
    stage(given) {
      const next = readSettings(given)?.config ?? current;
      return {
        report: { outcome: "checked", changes: [] },
        settings: undefined,
        take() {
          current = next;
          head.configure(followedOf(next));
          logger.level = next.log.level;
          return { outcome: "changed", changes: [] };
        },
      };
    },
    refuse() {},
    stop: head.stop,
  };
}
