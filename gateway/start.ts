import type { Logger } from "pino";
import { startOpsServer } from "../lib/ops-server.ts";
import { seedConfiguredKeys } from "./auth/seed-configured-keys.ts";
import type { GatewayConfig } from "./config.ts";
import { createParts } from "./create-parts.ts";
import { readMethodTable } from "./methods/method-table.ts";
import { createGatewayMetrics } from "./metrics.ts";
import { fitConnections, readDescriptorLimit } from "./server/descriptors.ts";
import { startServing } from "./start-serving.ts";
import { createStatus, type Progress } from "./status.ts";

export type Gateway = {
  address: { host: string; port: number; opsHost: string; opsPort: number };
  /** Lets answers on their way go out, then closes everything. */
  stop(): Promise<void>;
};

/**
 * Starts a gateway: ops server first, then, once Redis answers, the configured keys and the public port.
 * @throws ConfigError for a bad method table; Error where a port is taken, or too few file descriptors are allowed.
 */
export async function start(
  config: GatewayConfig,
  {
    logger,
    monotonicMs = () => performance.now(),
    descriptorsMax = readDescriptorLimit(),
  }: {
    logger: Logger;
    monotonicMs?: () => number;
    /** How many files and sockets the process may have open. */
    descriptorsMax?: number;
  },
): Promise<Gateway> {
  const { profile } = config;
  const progress: Progress = { state: "starting", limiter: undefined, http: undefined };
  const stops: (() => unknown)[] = [];
  const onStop = (stop: () => unknown) => void stops.push(stop);
  const stopAll = async () => {
    for (const stop of stops.toReversed()) await stop();
  };
  const connectionSettings = fitConnections({ config, descriptorsMax, logger });
  const methods = readMethodTable(config.methodsFile);
  const metrics = createGatewayMetrics();
  const { registry } = metrics;
  const common = { config, progress, methods, logger, monotonicMs, onStop };

  const parts = createParts({ ...common, registry });
  const { redis, keyStore, seeds } = parts;
  const { readiness, status } = createStatus({ ...parts, config, progress });

  try {
    const ops = await startOpsServer({ ...config.ops, registry, readiness, status });
    // It tells how the others stop, so it stops last.
    stops.unshift(() => ops.stop());

    await seedConfiguredKeys({ redis, keyStore, keys: seeds, profile, logger });
    const http = await startServing({ ...common, connectionSettings, metrics, parts });
    progress.http = http;
    progress.state = "serving";
    return {
      address: { host: http.host, port: http.port, opsHost: ops.host, opsPort: ops.port },
      async stop() {
        progress.state = "stopping";
        await http.stop({ timeoutMs: config.stopTimeoutMs });
        await stopAll();
      },
    };
  } catch (error) {
    await stopAll();
    throw error;
  }
}
