import { availableParallelism } from "node:os";
import { createServiceWorkers, type ServiceWorkers } from "../../lib/service/run-workers.ts";
import type { GatewayConfig } from "../config.ts";
import { readSettings } from "./settings.ts";
import { startHead } from "./start-head.ts";
import { startWorker } from "./start-worker.ts";

/** The gateway as several processes: workers that share the port, and one that follows the validators for all of them. */
export function createGatewayWorkers(): ServiceWorkers<GatewayConfig> {
  return createServiceWorkers<GatewayConfig>({
    name: "gateway",
    count: ({ workers }) => (workers === "auto" ? availableParallelism() : workers),
    stopMs: ({ stopTimeoutMs, drainDelayMs }) => stopTimeoutMs + drainDelayMs,
    side: "head",
    shared: ["profile", "config", "tls", "chain"],
    configIn: (settings) => readSettings(settings)?.config,
    adapt: (config, { listener, workers }) => ({
      ...config,
      port: listener.port,
      forward: { ...config.forward, processes: config.forward.processes * workers },
    }),
    start: (config, dependencies) =>
      dependencies.link.task.role === "side"
        ? startHead(config, dependencies)
        : startWorker(config, dependencies),
  });
}
