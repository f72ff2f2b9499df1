import type { Logger } from "pino";
import type { Registry } from "prom-client";
import { listenOn } from "../lib/http-service/create-http-service.ts";
import { type Readiness, startOpsServer } from "../lib/ops-server.ts";
import { migrate } from "../lib/postgres/migrate.ts";
import { waitForPostgres } from "../lib/postgres/wait-for-postgres.ts";
import { answerReload } from "../lib/reload/answer-reload.ts";
import { registerReloadMetrics } from "../lib/reload/reload-metrics.ts";
import type { ReadAgain, Reloader } from "../lib/reload/reloader.ts";
import type { KnownContract } from "./chain/known-contracts.ts";
import { readContracts } from "./chain/read-contracts.ts";
import type { ApiConfig } from "./config.ts";
import type { CrashPoint } from "./crash-point.ts";
import { createApp } from "./create-app.ts";
import { createParts } from "./create-parts.ts";
import { openMerchantKeys } from "./merchant/open-merchant-keys.ts";
import type { WebhookTimes } from "./merchant/webhooks/create-webhook-delivery.ts";
import { createApiMetrics } from "./metrics.ts";
import { migrationsFolder } from "./postgres/migrations-folder.ts";
import { type ApiReloader, createApiReloader, type Settings } from "./reload.ts";

export type Api = {
  address: { host: string; port: number; opsHost: string; opsPort: number };
  reloader: ApiReloader;
  /** What it runs with. A reload replaces what stands in it. */
  running: Settings;
  /** What an ops server tells. */
  pages: { registry: Registry; readiness: () => Readiness; status: () => object };
  /** Reads the configuration again as soon as it may: see `Reloader`. */
  reloadSoon(): void;
  /**
   * Lets answers end, then closes everything. With `idleMs` it goes on to answer on open connections for that long: another
   * process has the port already.
   */
  stop(options?: { idleMs: number }): Promise<void>;
};

/**
 * Starts the API: ops server first; then, once PostgreSQL answers, its schema is brought up to date, the follower begins,
 * and the listener opens. The chain and Redis may come later.
 * @throws Error where a port is taken or a migration cannot be carried out; ConfigError where a contract's file cannot
 * be used.
 */
export async function start(
  given: ApiConfig,
  {
    logger,
    readAgain = () => ({ problems: ["this process was started without a file"] }),
    adoptChain = false,
    now = Date.now,
    atPoint,
    webhookTimes,
    contracts = readContracts(given.contractsFolder),
    isWorker = false,
  }: {
    logger: Logger;
    /** Reads the configuration once more, for a reload. */
    readAgain?: ReadAgain<ApiConfig>;
    adoptChain?: boolean;
    now?: () => number;
    /** Called between steps where a crash must not do harm. */
    atPoint?: (point: CrashPoint) => void;
    /** Shorter ones than are promised, for who cannot wait for days. */
    webhookTimes?: WebhookTimes;
    /** What stands in the folder of contracts, where it was read already. */
    contracts?: readonly KnownContract[];
    /** One of several processes that share the port. It has no ops server: the primary answers for all, and asks each. */
    isWorker?: boolean;
  },
): Promise<Api> {
  // A reload changes it in place.
  const config = structuredClone(given);
  const running: Settings = { config, contracts };
  const metrics = createApiMetrics();
  const { registry } = metrics;
  const progress: { state: string; reloader: Reloader | undefined } = {
    state: "starting",
    reloader: undefined,
  };
  registerReloadMetrics({ registry, reloader: () => progress.reloader });
  const closers: (() => unknown)[] = [];
  const close = async () => {
    for (const closer of closers.toReversed()) await closer();
  };
  try {
    const merchantKeys = await openMerchantKeys(config);
    if (merchantKeys === undefined) logger.warn("no API keys are sold: there is no signer of orders");
    const parts = createParts({
      ...{ config, contracts, merchantKeys, registry, logger, adoptChain, now, atPoint, webhookTimes },
    });
    closers.push(parts.close);
    const { heads, follower, ledger, feed, streams } = parts;
    const app = createApp({ config, parts, metrics, logger, now });
    const readiness = (): Readiness => {
      const ready = progress.state === "serving";
      const found = parts.problems();
      return { ready, degraded: found.length > 0, reasons: ready ? found : [progress.state, ...found] };
    };
    const status = () => ({
      process: "api",
      state: progress.state,
      profile: config.profile,
      config: progress.reloader?.status() ?? null,
      index: follower.standing(),
      ledger: ledger?.standing() ?? null,
      head: heads.head() ?? null,
      liveClients: feed.clients(),
      eventStreams: parts.merchant.events.streams(),
      paymentStreams: streams.count(),
    });
    const reload = (options: { dryRun: boolean }) => answerReload(progress.reloader, options);
    const ops = isWorker
      ? undefined
      : await startOpsServer({ ...config.ops, registry, readiness, status, reload });
    closers.push(() => ops?.stop());
    // Before PostgreSQL answers: what is away is told of one by one.
    heads.start();
    await waitForPostgres({ url: config.postgres.url, name: "api", logger });
    await migrate({ url: config.postgres.url, folder: migrationsFolder, logger });
    follower.start();
    ledger?.start();
    parts.sweep.start();
    await parts.merchant.rates.start();
    if (ledger !== undefined) parts.merchant.collector.start();
    parts.delivery.start();
    parts.merchant.events.start();
    const server = await listenOn(app, { host: config.host, port: config.port, isPortShared: isWorker });
    closers.push(() => server.stop());
    const reloader = createApiReloader({ running, readAgain, parts, logger });
    closers.push(() => reloader.stop());
    Object.assign(progress, { state: "serving", reloader } satisfies typeof progress);
    return {
      reloader,
      running,
      pages: { registry, readiness, status },
      reloadSoon: reloader.reloadSoon,
      address: {
        host: server.host,
        port: server.port,
        opsHost: ops?.host ?? config.ops.host,
        opsPort: ops?.port ?? config.ops.port,
      },
      async stop({ idleMs } = { idleMs: 0 }) {
        Object.assign(progress, { state: "stopping", reloader: undefined } satisfies typeof progress);
        // Before the streams end: who comes again should come to another process.
        const drained = idleMs > 0 ? server.drain({ idleMs }) : undefined;
        // Streams have no end of their own: the listener would wait for them.
        feed.stop();
        await parts.merchant.events.stop();
        await streams.stop();
        await drained;
        await close();
      },
    };
  } catch (error) {
    await close();
    throw error;
  }
}
