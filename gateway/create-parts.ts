import type { Logger } from "pino";
import type { Registry } from "prom-client";
import { createKeyStore } from "../lib/keys/key-store.ts";
import { createRedisClient, type RedisClient } from "../lib/redis/redis-client.ts";
import { createAnswerBudget } from "./answer-budget/answer-budget.ts";
import { registerAnswerMetrics } from "./answer-budget/answer-metrics.ts";
import { createReaderWatch } from "./answer-budget/reader-watch.ts";
import { createKeyCache } from "./auth/key-cache.ts";
import { createKeyLossKeeper } from "./auth/key-loss.ts";
import { registerKeyMetrics } from "./auth/key-metrics.ts";
import { seedsOf } from "./auth/seed-configured-keys.ts";
import { createCache } from "./cache/cache.ts";
import { registerCacheMetrics } from "./cache/cache-metrics.ts";
import type { GatewayConfig } from "./config.ts";
import { createFilters } from "./filters/filters.ts";
import type { MethodTable } from "./methods/method-table.ts";
import type { Progress } from "./status.ts";
import { createAskChain } from "./subscriptions/ask-chain.ts";
import { createPendingTransactions } from "./subscriptions/pending/pending-transactions.ts";
import { publishSends } from "./subscriptions/pending/publish-sends.ts";
import { createSubscriptionRegistry } from "./subscriptions/subscription-registry.ts";
import { createDeadlyCalls } from "./traces/deadly-calls.ts";
import { createTraceSlots } from "./traces/trace-slots.ts";
import type { HeadSource } from "./upstream/head/remote-head.ts";
import { createUpstream } from "./upstream/upstream.ts";

export type Parts = ReturnType<typeof createParts>;

type PartsOptions = {
  config: GatewayConfig;
  /** The limiter is there later than the parts are, and holds when keys are lost. */
  progress: Pick<Progress, "limiter">;
  /** Its rules are looked up anew for each call of the gateway's own. */
  methods: Pick<MethodTable, "rules">;
  registry: Registry;
  headSource?: HeadSource | undefined;
  logger: Logger;
  monotonicMs: () => number;
  /** Called at the end, in reverse order. */
  onStop: (stop: () => unknown) => void;
};

/** What works before Redis answers: validators, subscriptions, filters, the cache and the keys in memory. */
export function createParts(options: PartsOptions) {
  const { config, methods, registry, headSource, logger, monotonicMs, onStop } = options;
  const redis = createRedisClient({
    url: config.redis,
    name: "tollgate-gateway",
    commandTimeoutMs: config.redisCommandTimeoutMs,
    logger,
  });
  onStop(() => redis.disconnect());

  const deadly = createDeadlyCalls({ redis, settings: config.deadlyCalls, logger, monotonicMs });
  const traceSlots = createTraceSlots({ redis, strikesMax: config.deadlyCalls.strikesMax, monotonicMs });
  const validators = createUpstream({
    config,
    deadly,
    slots: traceSlots,
    registry,
    headSource,
    logger,
    monotonicMs,
  });
  onStop(() => validators.stop());
  onStop(() => deadly.stop());

  const answerBudget = createAnswerBudget(config.answers);
  const readers = createReaderWatch({ settings: config.answers, monotonicMs });
  registerAnswerMetrics({ registry, answerBudget, readers });
  onStop(() => readers.stop());

  const askChain = createAskChain({ upstream: validators, methods });
  const pending = createPendingTransactions({ redis });
  const subscriptions = createSubscriptionRegistry({
    upstream: validators,
    askChain,
    pending,
    settings: config.webSocket,
  });
  onStop(() => subscriptions.stop());
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
  onStop(() => filters.stop());

  // Clients' transactions are published to all gateways as soon as a validator has taken them.
  const upstream = publishSends(validators, pending);
  const cache = createCache({ upstream, settings: config.memory, monotonicMs });
  registerCacheMetrics({ registry, cache });
  onStop(() => cache.stop());

  return {
    redis,
    upstream,
    deadly,
    answerBudget,
    readers,
    subscriptions,
    filters,
    cache,
    ...createKeys(redis, options),
  };
}

function createKeys(
  redis: RedisClient,
  { config, progress, registry, logger, monotonicMs, onStop }: PartsOptions,
) {
  const { profile } = config;
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
  onStop(() => keys.stop());
  return { keyStore, seeds, keys };
}
