import type { Logger } from "pino";
import type { Registry } from "prom-client";
import { type Readiness, startOpsServer } from "../lib/ops-server.ts";
import { keysData } from "../lib/redis/data-migrations.ts";
import { migrateRedisData } from "../lib/redis/migrate-data.ts";
import { answerReload } from "../lib/reload/answer-reload.ts";
import { registerReloadMetrics } from "../lib/reload/reload-metrics.ts";
import type { ReadAgain } from "../lib/reload/reloader.ts";
import { seedConfiguredKeys } from "./auth/seed-configured-keys.ts";
import type { GatewayConfig } from "./config.ts";
import { createParts } from "./create-parts.ts";
import { type MethodTable, readMethodTable } from "./methods/method-table.ts";
import { createGatewayMetrics } from "./metrics.ts";
import { createGatewayReloader, type GatewayReloader } from "./reload.ts";
import { fitConnections, readDescriptorLimit } from "./server/descriptors.ts";
import { type Settings, startServing } from "./start-serving.ts";
import { createStatus, type Progress } from "./status.ts";
import type { HeadSource } from "./upstream/head/remote-head.ts";

/** What a worker does not do itself. It has no ops server either: the primary answers for all, and asks each. */
export type SharedWork = {
  /** Another process follows the validators. */
  headSource: HeadSource;
};

export type Gateway = {
  address: { host: string; port: number; opsHost: string; opsPort: number };
  reloader: GatewayReloader;
  /** What it runs with. A reload replaces what stands in it. */
  running: Settings;
  /** What an ops server tells. */
  pages: { registry: Registry; readiness: () => Readiness; status: () => object };
  /** Reads the configuration again as soon as it may: see `Reloader`. */
  reloadSoon(): void;
  /**
   * Drains for `drainDelayMs`, lets answers on their way go out, then closes everything. With `idleMs` it does
   * not drain but goes on to answer on open connections for that long: another process has the port already.
   */
  stop(options?: { idleMs: number }): Promise<void>;
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
    methods: givenMethods = readMethodTable(given.methodsFile),
    worker,
  }: {
    logger: Logger;
    /** Reads the configuration once more, for a reload. */
    readAgain?: ReadAgain<GatewayConfig>;
    monotonicMs?: () => number;
    /** How many files and sockets the process may have open. */
    descriptorsMax?: number;
    /** The method table, where it was read already. */
    methods?: MethodTable;
    /** Where it is one of several processes that share the port. */
    worker?: SharedWork | undefined;
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
  const running = { config, methods: givenMethods };
  const metrics = createGatewayMetrics();
  const { registry } = metrics;
  registerReloadMetrics({ registry, reloader: () => progress.reloader });
  const common = { config, progress, logger, monotonicMs, onStop };

  const methods = {
    get rules() {
      return running.methods.rules;
    },
  };
  const parts = createParts({ ...common, methods, registry, headSource: worker?.headSource });
  const { redis, keyStore, seeds } = parts;
  const { readiness, status } = createStatus({ ...parts, config, progress });

  try {
    const reload = (options: { dryRun: boolean }) => answerReload(progress.reloader, options);
    const ops =
      worker === undefined
        ? await startOpsServer({ ...config.ops, registry, readiness, status, reload })
        : undefined;
    // It tells how the others stop, so it stops last.
    stops.unshift(() => ops?.stop());

    await migrateRedisData({ redis, data: keysData, logger });
    await seedConfiguredKeys({ redis, keyStore, keys: seeds, profile, logger });
    const { methods: served } = running;
    const serving = await startServing({
      ...common,
      methods: served,
      connectionSettings,
      metrics,
      parts,
      isPortShared: worker !== undefined,
    });
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
      reloader,
      running,
      pages: { registry, readiness, status },
      reloadSoon: reloader.reloadSoon,
      address: {
        host: http.host,
        port: http.port,
        opsHost: ops?.host ?? config.ops.host,
        opsPort: ops?.port ?? config.ops.port,
      },
      async stop({ idleMs } = { idleMs: 0 }) {
        Object.assign(progress, { state: "stopping", reloader: undefined } satisfies Partial<Progress>);
        if (config.drainDelayMs > 0 && idleMs === 0) await http.drain({ delayMs: config.drainDelayMs });
        await http.stop({ timeoutMs: config.stopTimeoutMs, idleMs });
        await stopAll();
      },
    };
  } catch (error) {
    await stopAll();
    throw error;
  }
}
