import type { Logger } from "pino";
import { createClientAddress } from "../lib/client-address.ts";
import { createKeyStore } from "../lib/key-store/key-store.ts";
import { type Readiness, startOpsServer } from "../lib/ops-server.ts";
import { createRedisClient, waitForRedis } from "../lib/redis-client.ts";
import type { ConfiguredKey, GatewayConfig } from "./config.ts";
import { createFaucetClient } from "./faucet-client.ts";
import { type HttpServer, startHttpServer } from "./http/http-server.ts";
import { registerTlsMetrics } from "./http/tls-metrics.ts";
import { createKeyCache } from "./key-cache.ts";
import { createFailureLimiter } from "./limits/failure-limiter.ts";
import { createLimiter, type Limiter } from "./limits/limiter.ts";
import { registerLimiterMetrics } from "./limits/limiter-metrics.ts";
import { createMemory } from "./memory/memory.ts";
import { registerMemoryMetrics } from "./memory/memory-metrics.ts";
import { readMethodTable } from "./method-table.ts";
import { createGatewayMetrics } from "./metrics.ts";
import { createChainNews } from "./news/chain-news.ts";
import { createPipeline, type PipelineDependencies } from "./pipeline.ts";
import { createUpgrade } from "./upgrade-pipeline.ts";
import { createUpstream } from "./upstream/upstream.ts";
import { registerSocketMetrics } from "./websocket/socket-metrics.ts";
import { createSockets } from "./websocket/sockets.ts";

export type Gateway = {
  address: { host: string; port: number; opsHost: string; opsPort: number };
  /** Lets answers on their way go out, then closes everything. */
  stop(): Promise<void>;
};

/**
 * Starts a gateway: ops server first, then, once Redis answers, the configured keys and the public port.
 * @throws ConfigError for a bad method table; Error where a port is taken.
 */
export async function start(
  config: GatewayConfig,
  {
    logger,
    monotonicMs = () => performance.now(),
  }: {
    logger: Logger;
    monotonicMs?: () => number;
  },
): Promise<Gateway> {
  const methods = readMethodTable(config.methodsFile);
  const metrics = createGatewayMetrics();
  const redis = createRedisClient({
    url: config.redis,
    name: "tollgate-gateway",
    commandTimeoutMs: config.redisCommandTimeoutMs,
    logger,
  });
  const validators = createUpstream({ config, registry: metrics.registry, logger });
  const news = createChainNews({ upstream: validators, redis, methods, config, logger });
  const { upstream, hub } = news;
  const memory = createMemory({ upstream, settings: config.memory, monotonicMs });
  registerMemoryMetrics({ registry: metrics.registry, memory });
  const keyStore = createKeyStore({ redis });
  const keys = createKeyCache({ keyStore, monotonicMs });
  // Not before Redis answers: the limits are exact from the first call on.
  let limiter: Limiter | undefined;
  let certificate: HttpServer["certificate"] = () => undefined;
  let state: "starting" | "serving" | "stopping" = "starting";

  const closers: (() => unknown)[] = [() => redis.disconnect(), () => validators.stop(), () => keys.stop()];
  closers.push(
    () => news.stop(),
    () => memory.stop(),
  );
  const close = async () => {
    for (const closer of closers.toReversed()) await closer();
  };
  const readiness = (): Readiness => {
    const reasons = [];
    if (limiter?.state().answers !== true) reasons.push("Redis does not answer");
    reasons.push(...upstream.problems());
    const ready = state === "serving";
    return { ready, degraded: reasons.length > 0, reasons: ready ? reasons : [state, ...reasons] };
  };
  const status = () => ({
    process: "gateway",
    state,
    profile: config.profile,
    redis: { ...limiter?.state(), hearsKeyChanges: keys.hearsChanges() },
    tls: certificate(),
    limits: { keysWithLease: limiter?.keysWithLease(), ...limiter?.stats() },
    ...upstream.status(),
  });

  try {
    const ops = await startOpsServer({ ...config.ops, registry: metrics.registry, readiness, status });
    closers.unshift(() => ops.stop());
    await waitForRedis({ redis, logger });
    await keyStore.seed({ keys: config.keys.map(toSeed), profile: config.profile });
    const started = createLimiter({ redis, logger });
    limiter = started;
    closers.push(() => started.stop());
    registerLimiterMetrics({ registry: metrics.registry, limiter: started });
    registerTlsMetrics({ registry: metrics.registry, certificate: () => certificate() });
    const deps: PipelineDependencies = {
      profile: config.profile,
      limits: config.limits,
      keys,
      clientAddress: createClientAddress({ trustedProxies: config.trustedProxies }),
      failures: createFailureLimiter({ redis, points: config.limits.requestsPerMinute, durationSeconds: 60 }),
      limiter: started,
      methods,
      upstream,
      memory,
      answerOwnMethod: news.answerOwnMethod,
      faucet: createFaucetClient({ url: config.faucetUrl }),
      metrics,
      logger,
      monotonicMs,
    };
    const { handle, answerFrame, isKeyOver } = createPipeline(deps);
    const sockets = createSockets({ settings: config.webSocket, answerFrame, isKeyOver, hub, monotonicMs });
    registerSocketMetrics({ registry: metrics.registry, sockets, hub });
    // The first call should find a validator; without any, the gateway serves all the same, and says so.
    await upstream.waitForHead(headWaitMs);
    const http = await startHttpServer({
      host: config.host,
      port: config.port,
      tls: config.tls,
      handle,
      upgrade: createUpgrade({ ...deps, sockets }),
      sockets,
      webSocketSettings: config.webSocket,
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

function toSeed({ value, expiresAt, ...settings }: ConfiguredKey) {
  return {
    ...settings,
    secret: value,
    ...(expiresAt === undefined ? {} : { expiresAtMs: Date.parse(expiresAt) }),
  };
}
