import type { Logger } from "pino";
import { startOpsServer } from "../lib/ops-server.ts";
import { answerReload } from "../lib/reload/answer-reload.ts";
import { registerReloadMetrics } from "../lib/reload/reload-metrics.ts";
import type { ReadAgain } from "../lib/reload/reloader.ts";
import { seedConfiguredKeys } from "./auth/seed-configured-keys.ts";
import type { GatewayConfig } from "./config.ts";
import { createParts } from "./create-parts.ts";
import { readMethodTable } from "./methods/method-table.ts";
import { createGatewayMetrics } from "./metrics.ts";
import { createGatewayReloader } from "./reload.ts";
import { fitConnections, readDescriptorLimit } from "./server/descriptors.ts";
import { startServing } from "./start-serving.ts";
import { createStatus, type Progress } from "./status.ts";

export type Gateway = {
  address: { host: string; port: number; opsHost: string; opsPort: number };
  /** Reads the configuration again as soon as it may: see `Reloader`. */
  reloadSoon(): void;
  /** Lets answers on their way go out, then closes everything. */
  stop(): Promise<void>;
};

/**
 * Starts a gateway: ops server first, then, once Redis answers, the configured keys and the public port.
 * @throws ConfigError for a bad method table; Error where a port is taken, or too few file descriptors are allowed.
 */
export async function start(
  given: GatewayConfig,
  {
    logger,
    readAgain = () => ({ problems: ["this process was started without a file"] }),
    monotonicMs = () => performance.now(),
    descriptorsMax = readDescriptorLimit(),
  }: {
    logger: Logger;
    /** Reads the configuration once more, for a reload. */
    readAgain?: ReadAgain<GatewayConfig>;
    monotonicMs?: () => number;
    /** How many files and sockets the process may have open. */
    descriptorsMax?: number;
  },
): Promise<Gateway> {
  // A reload changes it in place.
  const config = structuredClone(given);
  const { profile } = config;
  const progress: Progress = { state: "starting", limiter: undefined, http: undefined, reloader: undefined };
  const stops: (() => unknown)[] = [];
  const onStop = (stop: () => unknown) => void stops.push(stop);
  const stopAll = async () => {
    for (const stop of stops.toReversed()) await stop();
  };
  const connectionSettings = fitConnections({ config, descriptorsMax, logger });
  const running = { config, methods: readMethodTable(config.methodsFile) };
  const metrics = createGatewayMetrics();
  const { registry } = metrics;
  registerReloadMetrics({ registry, reloader: () => progress.reloader });
  const common = { config, progress, logger, monotonicMs, onStop };

  const methods = {
    get rules() {
      return running.methods.rules;
    },
  };
  const parts = createParts({ ...common, methods, registry });
  const { redis, keyStore, seeds } = parts;
  const { readiness, status } = createStatus({ ...parts, config, progress });

  try {
    const reload = (options: { dryRun: boolean }) => answerReload(progress.reloader, options);
    const ops = await startOpsServer({ ...config.ops, registry, readiness, status, reload });
    // It tells how the others stop, so it stops last.
    stops.unshift(() => ops.stop());

    await seedConfiguredKeys({ redis, keyStore, keys: seeds, profile, logger });
    const { methods: served } = running;
    const serving = await startServing({ ...common, methods: served, connectionSettings, metrics, parts });
    const { http } = serving;
    const reloader = createGatewayReloader({
      running,
      readAgain,
      serving,
      upstream: parts.upstream,
      connectionSettings,
      descriptorsMax,
      logger,
      monotonicMs,
    });
    onStop(() => reloader.stop());
    Object.assign(progress, { http, reloader, state: "serving" } satisfies Partial<Progress>);
    return {
      reloadSoon: reloader.reloadSoon,
      address: { host: http.host, port: http.port, opsHost: ops.host, opsPort: ops.port },
      async stop() {
        Object.assign(progress, { state: "stopping", reloader: undefined } satisfies Partial<Progress>);
        await http.stop({ timeoutMs: config.stopTimeoutMs });
        await stopAll();
      },
    };
  } catch (error) {
    await stopAll();
    throw error;
  }
}
