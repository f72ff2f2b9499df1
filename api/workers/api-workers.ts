import { availableParallelism } from "node:os";
import { createServiceWorkers, type ServiceWorkers } from "../../lib/service/run-workers.ts";
import { type ApiConfig, workersMaxOf } from "../config.ts";
import { readSettings } from "./settings.ts";
import { shareOf } from "./share-of.ts";
import { startWorker } from "./start-worker.ts";

/**
 * The API as several processes that share the port. What may be done once is decided between them as between replicas: in
 * PostgreSQL and Redis. So there is no process beside them.
 */
export function createApiWorkers(): ServiceWorkers<ApiConfig> {
  return createServiceWorkers<ApiConfig>({
    name: "api",
    count: ({ workers, postgres }) =>
      workers === "auto" ? Math.min(availableParallelism(), workersMaxOf(postgres)) : workers,
    // For a request that was begun to come whole, and then for the gateway's answer to it.
    stopMs: ({ requestTimeoutMs, upstreamTimeoutMs }) => Math.max(requestTimeoutMs, upstreamTimeoutMs),
    shared: ["profile", "config", "head"],
    configIn: (settings) => readSettings(settings)?.config,
    adapt: (config, { listener, workers }) => ({ ...shareOf(config, { workers }), port: listener.port }),
    start: startWorker,
  });
}
