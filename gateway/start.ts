import type { Logger } from "pino";
import { createClientAddress } from "../lib/http-service/client-address.ts";
import { createKeyStore } from "../lib/keys/key-store.ts";
import { startOpsServer } from "../lib/ops-server.ts";
import { createRedisClient } from "../lib/redis/redis-client.ts";
import { createAnswerBudget } from "./answer-budget/answer-budget.ts";
import { registerAnswerMetrics } from "./answer-budget/answer-metrics.ts";
import { createReaderWatch } from "./answer-budget/reader-watch.ts";
import { createKeyCache } from "./auth/key-cache.ts";
import { createKeyLossKeeper, lossReasons } from "./auth/key-loss.ts";
import { registerKeyMetrics } from "./auth/key-metrics.ts";
import { seedConfiguredKeys, seedsOf } from "./auth/seed-configured-keys.ts";
import { createCache } from "./cache/cache.ts";
import { registerCacheMetrics } from "./cache/cache-metrics.ts";
import type { GatewayConfig } from "./config.ts";
import { createFilters } from "./filters/filters.ts";
import { createFailureLimiter } from "./limits/failure-limiter.ts";
import { createLimiter } from "./limits/limiter.ts";
import { registerLimiterMetrics } from "./limits/limiter-metrics.ts";
import { readMethodTable } from "./methods/method-table.ts";
import { createGatewayMetrics } from "./metrics.ts";
import { createFaucetClient } from "./pipeline/faucet-client.ts";
import { createOwnMethods } from "./pipeline/own-methods.ts";
import type { PipelineDependencies } from "./pipeline/request-context.ts";
import { createRequestHandler } from "./pipeline/request-handler.ts";
import { lateReply } from "./pipeline/response.ts";
import { createTraceGas } from "./pipeline/trace-gas.ts";
import { createUpgrade } from "./pipeline/upgrade-pipeline.ts";
import { createBodyBudget } from "./server/body-budget.ts";
import { createConnectionSlots } from "./server/connection-slots.ts";
import { fitConnections, readDescriptorLimit } from "./server/descriptors.ts";
import { startHttpServer } from "./server/http-server.ts";
import { registerIntakeMetrics } from "./server/intake-metrics.ts";
import { registerTlsMetrics } from "./server/tls-metrics.ts";
import { registerSocketMetrics } from "./server/websocket/socket-metrics.ts";
import { createSockets } from "./server/websocket/sockets.ts";
import { createStatus, type Progress } from "./status.ts";
import { createAskChain } from "./subscriptions/ask-chain.ts";
import { createPendingTransactions } from "./subscriptions/pending/pending-transactions.ts";
import { publishSends } from "./subscriptions/pending/publish-sends.ts";
import { createSubscriptionRegistry } from "./subscriptions/subscription-registry.ts";
import { createDeadlyCalls } from "./traces/deadly-calls.ts";
import { createTraceSlots } from "./traces/trace-slots.ts";
import { createUpstream } from "./upstream/upstream.ts";

export type Gateway = {
  address: { host: string; port: number; opsHost: string; opsPort: number };
  /** Lets answers on their way go out, then closes everything. */
  stop(): Promise<void>;
};

/** The first call should find a validator. Without any, the gateway serves all the same, and says so. */
const headWaitMs = 2000;

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
  const { profile, limits } = config;
  const progress: Progress = { state: "starting", limiter: undefined, http: undefined };
  const stops: (() => unknown)[] = [];
  const connectionSettings = fitConnections({ config, descriptorsMax, logger });
  const methods = readMethodTable(config.methodsFile);
  const metrics = createGatewayMetrics();
  const { registry } = metrics;

  const redis = createRedisClient({
    url: config.redis,
    name: "tollgate-gateway",
    commandTimeoutMs: config.redisCommandTimeoutMs,
    logger,
  });
  stops.push(() => redis.disconnect());

  const deadly = createDeadlyCalls({ redis, settings: config.deadlyCalls, logger, monotonicMs });
  const traceSlots = createTraceSlots({ redis, strikesMax: config.deadlyCalls.strikesMax, monotonicMs });
  const validators = createUpstream({ config, deadly, slots: traceSlots, registry, logger, monotonicMs });
  stops.push(
    () => validators.stop(),
    () => deadly.stop(),
  );

  const answerBudget = createAnswerBudget(config.answers);
  const readers = createReaderWatch({ settings: config.answers, monotonicMs });
  registerAnswerMetrics({ registry, answerBudget, readers });
  stops.push(() => readers.stop());

  const askChain = createAskChain({ upstream: validators, methods });
  const pending = createPendingTransactions({ redis });
  const subscriptions = createSubscriptionRegistry({
    upstream: validators,
    askChain,
    pending,
    settings: config.webSocket,
  });
  const filters = createFilters({
    redis,
    upstream: validators,
    askChain,
    pending,
    methods,
    answerBudget,
    settings: config.filters,
    logger,
  });
  stops.push(
    () => subscriptions.stop(),
    () => filters.stop(),
  );

  // Clients' transactions are published to all gateways as soon as a validator has taken them.
  const upstream = publishSends(validators, pending);
  const cache = createCache({ upstream, settings: config.memory, monotonicMs });
  registerCacheMetrics({ registry, cache });
  stops.push(() => cache.stop());

  const keyStore = createKeyStore({ redis });
  const seeds = seedsOf(config.keys);
  const keyLoss = createKeyLossKeeper({
    profile,
    seeds,
    keyStore,
    logger,
    holdLimits: (reason) => progress.limiter?.hold(reason),
  });
  const keys = createKeyCache({
    keyStore,
    monotonicMs,
    settings: config.keyLookUps,
    keysExpected: profile === "production",
    onLoss: keyLoss.told,
  });
  registerKeyMetrics({ registry, keys });
  stops.push(() => keys.stop());

  const { readiness, status } = createStatus({ config, progress, keys, upstream, answerBudget });
  const stopAll = async () => {
    for (const stop of stops.toReversed()) await stop();
  };

  try {
    const ops = await startOpsServer({ ...config.ops, registry, readiness, status });
    // It tells how the others stop, so it stops last.
    stops.unshift(() => ops.stop());

    await seedConfiguredKeys({ redis, keyStore, keys: seeds, profile, logger });
    // Not before Redis answers: the limits are exact from the first call on.
    const limiter = createLimiter({ redis, logger });
    progress.limiter = limiter;
    const lost = keys.loss();
    if (lost !== undefined && lost !== "none") limiter.hold(lossReasons[lost]);
    registerLimiterMetrics({ registry, limiter });
    stops.push(() => limiter.stop());

    const clientAddress = createClientAddress({ trustedProxies: config.trustedProxies });
    const failures = createFailureLimiter({
      redis,
      points: limits.requestsPerMinute,
      durationSeconds: 60,
      sharedPerSecondMax: config.keyLookUps.failuresPerSecondMax,
      monotonicMs,
    });
    const pipeline: PipelineDependencies = {
      profile,
      limits,
      keys,
      clientAddress,
      failures,
      limiter,
      methods,
      upstream,
      cache,
      deadly,
      traceBounds: config.traces,
      checkTraceGas: createTraceGas({ cache, methods, gasMax: config.traces.gasMax }),
      answerBudget,
      answerOwnMethod: createOwnMethods({ filters, subscriptions }),
      faucet: createFaucetClient({ url: config.faucetUrl }),
      metrics,
      logger,
      monotonicMs,
    };
    const { handle, refuseBodiless, answerFrame, isKeyOver } = createRequestHandler(pipeline);
    const sockets = createSockets({
      settings: config.webSocket,
      answerFrame,
      isKeyOver,
      subscriptions,
      answerBudget,
      monotonicMs,
    });
    registerSocketMetrics({ registry, sockets, subscriptions });

    const slots = createConnectionSlots({
      settings: connectionSettings,
      isTrustedProxy: clientAddress.isTrustedProxy,
    });
    const budget = createBodyBudget({ settings: config.bodies, monotonicMs });
    registerIntakeMetrics({ registry, slots, budget });
    registerTlsMetrics({ registry, certificate: () => progress.http?.certificate() });

    await upstream.waitForHead(headWaitMs);
    const http = await startHttpServer({
      host: config.host,
      port: config.port,
      tls: config.tls,
      handle,
      refuseBodiless,
      upgrade: createUpgrade({ ...pipeline, sockets }),
      sockets,
      webSocketSettings: config.webSocket,
      limits,
      slots,
      budget,
      clientAddress,
      droppedBytesMax: config.bodies.droppedBytesMax,
      lateReply,
      giveUp: () => validators.giveUp(),
      readers,
      logger,
    });
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
