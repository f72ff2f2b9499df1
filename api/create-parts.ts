import type { Logger } from "pino";
import type { Registry } from "prom-client";
import { createRpcClient, type RpcClient } from "../lib/chain/rpc-client.ts";
import { upstreamOf } from "../lib/chain/upstream-settings.ts";
import { createPostgresPool } from "../lib/postgres/postgres-pool.ts";
import { createRedisClient } from "../lib/redis/redis-client.ts";
import { createBurnAudit } from "./burns/burn-audit.ts";
import { feeBurns } from "./burns/fee-burns.ts";
import { withFeeCollector } from "./burns/known-fee-collector.ts";
import { createChainReader } from "./chain/chain-reader.ts";
import { createKnownContracts, type KnownContract } from "./chain/known-contracts.ts";
import { keepLatestBlock } from "./chain/latest-block.ts";
import { type ApiConfig, pointsOf } from "./config.ts";
import type { CrashPoint } from "./crash-point.ts";
import { createFinishedAnswers } from "./finished-answers.ts";
import { createFollower } from "./follower/follower.ts";
import { createHeadWatch } from "./follower/head-watch.ts";
import { createRequestLimiter } from "./limits/request-limiter.ts";
import { createLiveFeed } from "./live/live-feed.ts";
import { createPaymentStreams } from "./merchant/checkout/payment-streams.ts";
import { createMerchant } from "./merchant/create-merchant.ts";
import { removeOldIdempotencyKeys } from "./merchant/invoices/once-by-key.ts";
import { createLedger } from "./merchant/ledger/ledger.ts";
import type { MerchantKeys } from "./merchant/open-merchant-keys.ts";
import { createPayerRpc } from "./merchant/payer-rpc/create-payer-rpc.ts";
import { createSessions } from "./merchant/session/create-sessions.ts";
import { createSweep } from "./merchant/sweep.ts";
import { removeUnpaidOrders, removeUnusedWallets } from "./merchant/unused-rows.ts";
import { createWebhookDelivery, type WebhookTimes } from "./merchant/webhooks/create-webhook-delivery.ts";
import { removeOldEvents } from "./merchant/webhooks/remove-old-events.ts";
import { sealSecretsAnew } from "./merchant/webhooks/seal-secrets-anew.ts";
import { registerStateMetrics } from "./metrics.ts";
import { createReadModel } from "./read/read-model.ts";
import { createValidatorHeads } from "./read/validator-heads.ts";

/** For what a contract decides how long it takes and how much it says: its calls and its logs. */
const lookLimits = { timeoutMs: 3000, answerBytesMax: 4_194_304 };
/** A validator that does not answer holds a range up for so long, and is left in peace after it. */
const sealTimeoutMs = 2000;

export type Parts = ReturnType<typeof createParts>;

/** What answers are made from: the chain, the index and who follows it, live events, finished answers and the limit. */
export function createParts({
  config,
  contracts: known,
  registry,
  logger,
  merchantKeys,
  adoptChain,
  now,
  atPoint,
  webhookTimes,
}: {
  config: ApiConfig;
  /** What stands in the folder of contracts. */
  contracts: readonly KnownContract[];
  /** Undefined: no API keys are sold here. */
  merchantKeys: MerchantKeys | undefined;
  registry: Registry;
  logger: Logger;
  adoptChain: boolean;
  now: () => number;
  atPoint?: ((point: CrashPoint) => void) | undefined;
  webhookTimes?: WebhookTimes | undefined;
}) {
  const connections = connect({ config, logger });
  const { redis, pool, rpc, lookRpc, sealSources, heads } = connections;
  const reader = createChainReader({ rpc });
  const contracts = createKnownContracts(withFeeCollector(known, config.fees));
  const follower = createFollower({
    rpc,
    heads,
    validators: sealSources,
    postgresUrl: config.postgres.url,
    burnContracts: config.fees === undefined ? [] : [feeBurns(config.fees.feeCollector)],
    registry,
    logger,
    isDevelopment: config.profile === "development",
    adoptChain,
  });
  const audit =
    config.fees === undefined
      ? undefined
      : createBurnAudit({ rpc, db: pool, feeCollector: config.fees.feeCollector, registry, logger });
  const ledger =
    config.fees === undefined
      ? undefined
      : createLedger({
          ...{ rpc, heads, registry, logger, adoptChain, ...config.ledger },
          boxesMax: () => config.ledger.boxesMax,
          ...(atPoint === undefined ? {} : { atPoint }),
          postgresUrl: config.postgres.url,
          feeCollector: config.fees.feeCollector,
          publicUrl: config.publicUrl,
          isDevelopment: config.profile === "development",
        });
  const feed = createLiveFeed({ settings: config.live, reader, logger });
  const finished = createFinishedAnswers({ bytesMax: config.cacheBytesMax });
  const newest = keepLatestBlock({
    reader,
    heads,
    logger,
    onBlock(block) {
      finished.sawBlock(block);
      feed.announce(block);
    },
  });
  follower.onIndexed(finished.sawIndex);
  const read = createReadModel({
    reader,
    looks: createChainReader({ rpc: lookRpc }),
    // A chain that is away has no newest block: what it was is not told as if it still were.
    newest: { block: () => (heads.isAnswering() ? newest.block() : undefined) },
    db: pool,
    contracts,
    validatorHeads: createValidatorHeads({ sources: sealSources }),
    names: config.names,
    fees: config.fees,
    settings: config,
    now,
  });
  const limiter = createRequestLimiter({
    redis,
    points: () => pointsOf(config),
    windowSeconds: config.limits.windowSeconds,
  });
  const { sessions, removeExpired } = createSessions({ config, redis, db: pool, rpc: lookRpc, now, logger });
  const sweep = createSweep({
    tasks: [
      removeExpired,
      removeUnpaidOrders(pool),
      removeUnusedWallets(pool),
      removeOldIdempotencyKeys(pool),
      removeOldEvents(pool),
      ...(merchantKeys === undefined ? [] : [sealSecretsAnew(pool, { ...merchantKeys, logger })]),
    ],
    logger,
  });
  const delivery = createWebhookDelivery({
    ...{ config, merchantKeys, registry, logger, now, atPoint },
    times: webhookTimes,
  });
  const merchant = createMerchant({
    ...{ config, merchantKeys, redis, pool, rpc, reader, heads, newest, delivery, logger, now, atPoint },
    ledger: ledger?.standing ?? nobodyFollows,
  });
  const payerRpc = createPayerRpc({ config, redis, heads, newest, registry, logger });
  const streams = createPaymentStreams({
    ...{ db: pool, clock: merchant.checkout.clock, now, logger, settings: config.checkout },
  });
  const isAway = {
    chain: () => !heads.isAnswering(),
    redis: () => redis.status !== "ready",
    postgres: () => !follower.standing().isConnected,
  };
  registerStateMetrics({
    registry,
    liveClients: () => feed.clients(),
    eventStreams: () => merchant.events.streams(),
    paymentStreams: streams.count,
    cacheBytes: () => finished.cache.bytes(),
    isAway,
  });

  return {
    redis,
    pool,
    heads,
    follower,
    ledger,
    feed,
    streams,
    finished,
    read,
    limiter,
    sessions,
    sweep,
    merchant,
    payerRpc,
    delivery,

    /** What `config` says by now, in which a reload has changed what it may. */
    useSettings({ contracts: next }: { contracts: readonly KnownContract[] }): void {
      connections.useUpstreams();
      contracts.use(withFeeCollector(next, config.fees));
      finished.forget();
    },

    /** Why the API works only in part. */
    problems: () => [
      ...(isAway.chain() ? ["the chain does not answer"] : []),
      ...(isAway.redis() ? ["Redis does not answer"] : [limiter.problem() ?? []].flat()),
      ...(isAway.postgres() ? ["PostgreSQL does not answer"] : []),
      ...[follower.standing().refused ?? []].flat(),
      ...[ledger?.standing().refused ?? []].flat(),
      ...[audit?.problem() ?? []].flat(),
    ],

    async close() {
      feed.stop();
      await merchant.events.stop();
      await streams.stop();
      newest.stop();
      heads.stop();
      await delivery.stop();
      await sweep.stop();
      await merchant.rates.stop();
      await merchant.collector.stop();
      await audit?.stop();
      await follower.stop();
      await ledger?.stop();
      await payerRpc?.stop();
      await connections.close();
    },
  };
}

/** Where no fees are taken there is no ledger, and nothing is sold. */
const nobodyFollows = () => ({ epoch: undefined, refused: undefined, waitsFor: undefined });

/** Redis, PostgreSQL, the gateway, and validators that are asked for their seals. */
function connect({ config, logger }: { config: ApiConfig; logger: Logger }) {
  const upstream = upstreamOf(config);
  const redis = createRedisClient({
    name: "api",
    url: config.redis,
    commandTimeoutMs: config.redisCommandTimeoutMs,
    logger,
  });
  const pool = createPostgresPool({ ...config.postgres, name: "api", logger });
  const rpc = createRpcClient(upstream);
  const { timeoutMs, answerBytesMax } = lookLimits;
  const lookRpc = createRpcClient(upstreamOf(config, { timeoutMs: () => timeoutMs, answerBytesMax }));
  const sealSources = createSealSources(config);
  const heads = createHeadWatch({
    rpc,
    webSocket: {
      get url() {
        return upstream.url.replace(/^http/, "ws");
      },
      get headers() {
        return upstream.headers;
      },
    },
    pollMs: () => config.headPollMs,
    logger,
  });
  let heardAt = `${config.upstream} ${config.upstreamApiKey}`;

  return {
    redis,
    pool,
    rpc,
    lookRpc,
    sealSources: sealSources.clients,
    heads,

    useUpstreams(): void {
      sealSources.use();
      const at = `${config.upstream} ${config.upstreamApiKey}`;
      if (at !== heardAt) heads.reconnect();
      heardAt = at;
    },

    async close() {
      await pool.end();
      await rpc.stop();
      await lookRpc.stop();
      await sealSources.stop();
      redis.disconnect();
    },
  };
}

/** Validators that are asked for their seals: a list that stays the same one while those in it change. */
function createSealSources(settings: { readonly sealSources: readonly string[] }) {
  const byUrl = new Map<string, RpcClient>();
  const clients: RpcClient[] = [];

  function use(): void {
    const urls = new Set(settings.sealSources);
    for (const [url, client] of byUrl) {
      if (urls.has(url)) continue;
      byUrl.delete(url);
      void client.retire();
    }
    for (const url of urls) {
      if (!byUrl.has(url)) byUrl.set(url, createRpcClient({ url, timeoutMs: sealTimeoutMs }));
    }
    clients.splice(0, clients.length, ...settings.sealSources.flatMap((url) => byUrl.get(url) ?? []));
  }

  use();
  return {
    clients,
    use,
    async stop(): Promise<void> {
      for (const client of byUrl.values()) await client.stop();
    },
  };
}
