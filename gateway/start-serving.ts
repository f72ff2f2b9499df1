import type { Logger } from "pino";
import { type ClientAddress, createClientAddress } from "../lib/http-service/client-address.ts";
import { lossReasons } from "./auth/key-loss.ts";
import type { ConnectionSettings, GatewayConfig } from "./config.ts";
import type { Parts } from "./create-parts.ts";
import { createExplorerClient } from "./explorer/explorer-client.ts";
import { registerExplorerMetrics } from "./explorer/explorer-metrics.ts";
import { createOpenAnswers } from "./explorer/open-answers.ts";
import { createFailureLimiter } from "./limits/failure-limiter.ts";
import { createLimiter, type Limiter } from "./limits/limiter.ts";
import { registerLimiterMetrics } from "./limits/limiter-metrics.ts";
import type { MethodTable } from "./methods/method-table.ts";
import type { GatewayMetrics } from "./metrics.ts";
import { createFaucetClient } from "./pipeline/faucet-client.ts";
import { createOwnMethods } from "./pipeline/own-methods.ts";
import type { PipelineDependencies } from "./pipeline/request-context.ts";
import { createRequestHandler } from "./pipeline/request-handler.ts";
import { lateReply } from "./pipeline/response.ts";
import { isKeyOver } from "./pipeline/stages/authenticate.ts";
import { createTraceGas } from "./pipeline/trace-gas.ts";
import { createUpgrade } from "./pipeline/upgrade-pipeline.ts";
import { createBodyBudget } from "./server/body-budget.ts";
import { createConnectionSlots } from "./server/connection-slots.ts";
import { type HttpServer, startHttpServer } from "./server/http-server.ts";
import { registerIntakeMetrics } from "./server/intake-metrics.ts";
import { registerTlsMetrics } from "./server/tls-metrics.ts";
import { registerSocketMetrics } from "./server/websocket/socket-metrics.ts";
import { createSockets } from "./server/websocket/sockets.ts";
import type { Progress } from "./status.ts";

/** The first call should find a validator. Without any, the gateway serves all the same, and says so. */
const headWaitMs = 2000;

/** What calls are answered with, as far as a reload may change it. */
export type Settings = { config: GatewayConfig; methods: MethodTable };

export type Serving = {
  http: HttpServer;
  /** Answers the requests that begin from now on with other settings. */
  use(settings: Settings): void;
};

type ServingOptions = {
  /** Its bounds are read anew each time: `reload.ts` changes them in place. */
  config: GatewayConfig;
  connectionSettings: ConnectionSettings;
  methods: MethodTable;
  metrics: GatewayMetrics;
  parts: Parts;
  /** Other processes of this service listen on the same port. */
  isPortShared: boolean;
  progress: Progress;
  logger: Logger;
  monotonicMs: () => number;
  /** Called at the end, in reverse order. */
  onStop: (stop: () => unknown) => void;
};

/** Starts what takes calls once Redis answers: the limits, the pipeline, the sockets and the public port. */
export async function startServing(options: ServingOptions): Promise<Serving> {
  const { config, parts, progress, logger, monotonicMs } = options;
  const { registry } = options.metrics;
  const { answerBudget, subscriptions, upstream } = parts;
  const behind = startExplorer(options);
  const pipeline = createPipelineDependencies(options, { limiter: startLimiter(options), ...behind });
  let inUse = pipeline;
  // For what has no request of its own: it goes by what counts at the moment.
  const clientAddress: ClientAddress = {
    of: (request) => inUse.clientAddress.of(request),
    isTrustedProxy: (peer) => inUse.clientAddress.isTrustedProxy(peer),
  };
  const { handle, refuseBodiless, answerFrame, use } = createRequestHandler(pipeline);
  const sockets = createSockets({
    settings: config.webSocket,
    answerFrame,
    isKeyOver: (hash) => isKeyOver(hash, pipeline),
    subscriptions,
    answerBudget,
    monotonicMs,
  });
  registerSocketMetrics({ registry, sockets, subscriptions });

  const slots = createConnectionSlots({
    settings: options.connectionSettings,
    isTrustedProxy: clientAddress.isTrustedProxy,
  });
  const budget = createBodyBudget({ settings: config.bodies, monotonicMs });
  registerIntakeMetrics({ registry, slots, budget });
  registerTlsMetrics({ registry, certificate: () => progress.http?.certificate() });

  await upstream.waitForHead(headWaitMs);
  const http = await startHttpServer({
    host: config.host,
    port: config.port,
    isPortShared: options.isPortShared,
    tls: config.tls,
    handle,
    refuseBodiless,
    upgrade: (exchange) => createUpgrade({ ...inUse, sockets })(exchange),
    sockets,
    webSocketSettings: config.webSocket,
    limits: config.limits,
    slots,
    budget,
    clientAddress,
    get droppedBytesMax() {
      return config.bodies.droppedBytesMax;
    },
    lateReply,
    giveUp: () => upstream.giveUp(),
    readers: parts.readers,
    logger,
  });
  return {
    http: {
      ...http,
      stop(timeout) {
        // Streams of events would go on until the time for stopping is over.
        behind.openAnswers.stop();
        return http.stop(timeout);
      },
    },
    use(settings) {
      inUse = { ...inUse, ...createChangeable(settings, parts) };
      inUse.failures.allow(inUse.limits.requestsPerMinute);
      use(inUse);
    },
  };
}

/** The explorer behind the gateway, and what is open of it. */
function startExplorer({ config, parts: { keys }, metrics, logger, monotonicMs, onStop }: ServingOptions) {
  const { profile, explorerUrl: url, explorer: settings } = config;
  const explorer = createExplorerClient({ url, settings, logger });
  onStop(() => explorer.stop());
  const openAnswers = createOpenAnswers({
    ...settings,
    isKeyOver: (hash) => isKeyOver(hash, { profile, keys, monotonicMs }),
  });
  onStop(() => openAnswers.stop());
  registerExplorerMetrics({ registry: metrics.registry, explorer, openAnswers });
  return { explorer, openAnswers };
}

/** The limits are exact from the first call on, so they start once Redis answers. */
function startLimiter({ parts, progress, metrics, logger, onStop }: ServingOptions): Limiter {
  const { redis, keys } = parts;
  const limiter = createLimiter({ redis, logger });
  progress.limiter = limiter;
  const lost = keys.loss();
  if (lost !== undefined && lost !== "neverAny") limiter.hold(lossReasons[lost]);
  registerLimiterMetrics({ registry: metrics.registry, limiter });
  onStop(() => limiter.stop());
  return limiter;
}

function createPipelineDependencies(
  { config, parts, methods, metrics, logger, monotonicMs }: ServingOptions,
  started: Pick<PipelineDependencies, "limiter" | "explorer" | "openAnswers">,
): PipelineDependencies {
  const { redis, upstream, deadly, answerBudget, cache, keys, filters, subscriptions } = parts;
  const { profile } = config;
  return {
    ...createChangeable({ config, methods }, parts),
    profile,
    keys,
    failures: createFailureLimiter({
      redis,
      points: config.limits.requestsPerMinute,
      durationSeconds: 60,
      sharedPerSecondMax: config.keyLookUps.failuresPerSecondMax,
      monotonicMs,
    }),
    ...started,
    isTls: config.tls !== undefined,
    upstream,
    cache,
    deadly,
    answerBudget,
    answerOwnMethod: createOwnMethods({ filters, subscriptions }),
    metrics,
    logger,
    monotonicMs,
  };
}

/** What of it a reload replaces: values of its own, so that a request keeps those that it began with. */
function createChangeable({ config, methods }: Settings, { cache }: Pick<Parts, "cache">) {
  return {
    limits: { ...config.limits },
    methods,
    clientAddress: createClientAddress({ trustedProxies: config.trustedProxies }),
    traceBounds: { ...config.traces },
    checkTraceGas: createTraceGas({ cache, methods, gasMax: config.traces.gasMax }),
    faucet: createFaucetClient({ url: config.faucetUrl }),
  };
}
