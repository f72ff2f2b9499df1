import { setTimeout as sleep } from "node:timers/promises";
import type { Redis } from "ioredis";
import type { Logger } from "pino";
import { createClientAddress } from "../lib/http-service/client-address.ts";
import { createKeyStore } from "../lib/keys/key-store.ts";
import { type Readiness, startOpsServer } from "../lib/ops-server.ts";
import { createRedisClient, waitForRedis } from "../lib/redis/redis-client.ts";
import { isRedisFailure } from "../lib/redis/redis-failure.ts";
import { createAnswerBudget } from "./answer-budget/answer-budget.ts";
import { registerAnswerMetrics } from "./answer-budget/answer-metrics.ts";
import { createReaderWatch } from "./answer-budget/reader-watch.ts";
import { createKeyCache } from "./auth/key-cache.ts";
import { createKeyLossKeeper, lossReasons } from "./auth/key-loss.ts";
import { registerKeyMetrics } from "./auth/key-metrics.ts";
import { createCache } from "./cache/cache.ts";
import { registerCacheMetrics } from "./cache/cache-metrics.ts";
import type { ConfiguredKey, GatewayConfig } from "./config.ts";
import { createFailureLimiter } from "./limits/failure-limiter.ts";
import { createLimiter, type Limiter } from "./limits/limiter.ts";
import { registerLimiterMetrics } from "./limits/limiter-metrics.ts";
import { readMethodTable } from "./methods/method-table.ts";
import { createGatewayMetrics } from "./metrics.ts";
import { createFaucetClient } from "./pipeline/faucet-client.ts";
import type { PipelineDependencies } from "./pipeline/request-context.ts";
import { createRequestHandler } from "./pipeline/request-handler.ts";
import { lateReply } from "./pipeline/response.ts";
import { createUpgrade } from "./pipeline/upgrade-pipeline.ts";
import { createBodyBudget } from "./server/body-budget.ts";
import { createConnectionSlots } from "./server/connection-slots.ts";
import { fitConnections, readDescriptorLimit } from "./server/descriptors.ts";
import { type HttpServer, startHttpServer } from "./server/http-server.ts";
import { registerIntakeMetrics } from "./server/intake-metrics.ts";
import { registerTlsMetrics } from "./server/tls-metrics.ts";
import { registerSocketMetrics } from "./server/websocket/socket-metrics.ts";
import { createSockets } from "./server/websocket/sockets.ts";
import { createChainNews } from "./subscriptions/new-heads.ts";
import { createTraceGas } from "./traces/create-trace-gas.ts";
import { createDeadlyCalls } from "./traces/deadly-calls.ts";
import { createTraceSlots } from "./traces/trace-slots.ts";
import { createUpstream } from "./upstream/upstream.ts";

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
  const connectionSettings = fitConnections({ config, descriptorsMax, logger });
  const methods = readMethodTable(config.methodsFile);
  const metrics = createGatewayMetrics();
  const redis = createRedisClient({
    url: config.redis,
    name: "tollgate-gateway",
    commandTimeoutMs: config.redisCommandTimeoutMs,
    logger,
  });
  const deadly = createDeadlyCalls({ redis, settings: config.deadlyCalls, logger, monotonicMs });
  const slots = createTraceSlots({ redis, strikesMax: config.deadlyCalls.strikesMax, monotonicMs });
  const validators = createUpstream({
    config,
    deadly,
    slots,
    registry: metrics.registry,
    logger,
    monotonicMs,
  });
  const answerBudget = createAnswerBudget(config.answers);
  const readers = createReaderWatch({ settings: config.answers, monotonicMs });
  registerAnswerMetrics({ registry: metrics.registry, answerBudget, readers });
  const news = createChainNews({ upstream: validators, redis, methods, answerBudget, config, logger });
  const { upstream, subscriptions } = news;
  const cache = createCache({ upstream, settings: config.memory, monotonicMs });
  registerCacheMetrics({ registry: metrics.registry, cache });
  const keyStore = createKeyStore({ redis });
  // Not before Redis answers: the limits are exact from the first call on.
  let limiter: Limiter | undefined;
  const seeds = config.keys.map(toSeed);
  const { profile } = config;
  const loss = createKeyLossKeeper({
    profile,
    seeds,
    keyStore,
    logger,
    holdLimits: (reason) => limiter?.hold(reason),
  });
  const keys = createKeyCache({
    keyStore,
    monotonicMs,
    settings: config.keyLookUps,
    keysExpected: profile === "production",
    onLoss: loss.told,
  });
  registerKeyMetrics({ registry: metrics.registry, keys });
  let certificate: HttpServer["certificate"] = () => undefined;
  let state: "starting" | "serving" | "stopping" = "starting";

  const closers: (() => unknown)[] = [() => redis.disconnect(), () => validators.stop(), () => keys.stop()];
  closers.push(
    () => deadly.stop(),
    () => news.stop(),
    () => cache.stop(),
    () => readers.stop(),
  );
  const close = async () => {
    for (const closer of closers.toReversed()) await closer();
  };
  const readiness = (): Readiness => {
    const reasons = [];
    const lost = keys.loss();
    if (lost !== undefined) reasons.push(lossReasons[lost]);
    else if (limiter?.state().answers !== true) reasons.push("Redis does not answer");
    reasons.push(...upstream.problems());
    const ready = state === "serving";
    return { ready, degraded: reasons.length > 0, reasons: ready ? reasons : [state, ...reasons] };
  };
  const status = () => ({
    process: "gateway",
    state,
    profile: config.profile,
    redis: { ...limiter?.state(), hearsKeyChanges: keys.hearsChanges() },
    keys: { ...keys.history(), loss: keys.loss(), lookUps: keys.stats() },
    tls: certificate(),
    limits: { keysWithLease: limiter?.keysWithLease(), ...limiter?.stats() },
    answers: { heldBytes: answerBudget.heldBytes(), ofBytes: config.answers.processBytesMax },
    ...upstream.status(),
  });

  try {
    const ops = await startOpsServer({ ...config.ops, registry: metrics.registry, readiness, status });
    closers.unshift(() => ops.stop());
    await onceRedisAnswers({ redis, logger, work: () => keyStore.seed({ keys: seeds, profile }) });
    const started = createLimiter({ redis, logger });
    limiter = started;
    const lost = keys.loss();
    if (lost !== undefined && lost !== "none") started.hold(lossReasons[lost]);
    closers.push(() => started.stop());
    registerLimiterMetrics({ registry: metrics.registry, limiter: started });
    registerTlsMetrics({ registry: metrics.registry, certificate: () => certificate() });
    const deps: PipelineDependencies = {
      profile,
      limits: config.limits,
      keys,
      clientAddress: createClientAddress({ trustedProxies: config.trustedProxies }),
      failures: createFailureLimiter({
        redis,
        points: config.limits.requestsPerMinute,
        durationSeconds: 60,
        sharedPerSecondMax: config.keyLookUps.failuresPerSecondMax,
        monotonicMs,
      }),
      limiter: started,
      methods,
      upstream,
      cache,
      deadly,
      traceBounds: config.traces,
      checkTraceGas: createTraceGas({ cache, methods, gasMax: config.traces.gasMax }),
      answerBudget,
      answerOwnMethod: news.answerOwnMethod,
      faucet: createFaucetClient({ url: config.faucetUrl }),
      metrics,
      logger,
      monotonicMs,
    };
    const slots = createConnectionSlots({
      settings: connectionSettings,
      isTrustedProxy: deps.clientAddress.isTrustedProxy,
    });
    const budget = createBodyBudget({ settings: config.bodies, monotonicMs });
    registerIntakeMetrics({ registry: metrics.registry, slots, budget });
    const { handle, refuseBodiless, answerFrame, isKeyOver } = createRequestHandler(deps);
    const sockets = createSockets({
      settings: config.webSocket,
      answerFrame,
      isKeyOver,
      subscriptions,
      answerBudget,
      monotonicMs,
    });
    registerSocketMetrics({ registry: metrics.registry, sockets, subscriptions });
    // The first call should find a validator; without any, the gateway serves all the same, and says so.
    await upstream.waitForHead(headWaitMs);
    const http = await startHttpServer({
      host: config.host,
      port: config.port,
      tls: config.tls,
      handle,
      refuseBodiless,
      upgrade: createUpgrade({ ...deps, sockets }),
      sockets,
      webSocketSettings: config.webSocket,
      limits: config.limits,
      slots,
      budget,
      clientAddress: deps.clientAddress,
      droppedBytesMax: config.bodies.droppedBytesMax,
      lateReply,
      giveUp: () => validators.giveUp(),
      readers,
      logger,
    });
    certificate = http.certificate;
    state = "serving";
    return {
      address: { host: http.host, port: http.port, opsHost: ops.host, opsPort: ops.port },
      async stop() {
        state = "stopping";
        await http.stop({ timeoutMs: config.stopTimeoutMs });
        await close();
      },
    };
  } catch (error) {
    await close();
    throw error;
  }
}

const headWaitMs = 2000;
const redisPauseMs = 500;

/** A Redis that is late just then ends no gateway that starts: the work is done again, and has to bear that. */
async function onceRedisAnswers({
  redis,
  logger,
  work,
}: {
  redis: Redis;
  logger: Logger;
  work: () => Promise<unknown>;
}): Promise<void> {
  for (;;) {
    await waitForRedis({ redis, logger });
    try {
      await work();
      return;
    } catch (error) {
      // What Redis answers to the command itself it would answer again.
      if (!isRedisFailure(error) || (error instanceof Error && error.name === "ReplyError")) throw error;
      logger.warn({ err: error }, "Redis did not take the configured keys; trying again");
      await sleep(redisPauseMs);
    }
  }
}

function toSeed({ value, expiresAt, ...settings }: ConfiguredKey) {
  return {
    ...settings,
    secret: value,
    ...(expiresAt === undefined ? {} : { expiresAtMs: Date.parse(expiresAt) }),
  };
}
