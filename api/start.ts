import { readFileSync } from "node:fs";
import { printSchema } from "graphql";
import type { Logger } from "pino";
import { ChainUnavailableError, createRpcClient } from "../lib/chain/rpc-client.ts";
import { createBodyReader, jsonType } from "../lib/http-service/body-reader.ts";
import { createClientAddress } from "../lib/http-service/client-address.ts";
import { createHttpService, listenOn } from "../lib/http-service/create-http-service.ts";
import { type Refusal, refusal } from "../lib/http-service/refusal.ts";
import { type Readiness, startOpsServer } from "../lib/ops-server.ts";
import { migrate } from "../lib/postgres/migrate.ts";
import { isPostgresFailure } from "../lib/postgres/postgres-failure.ts";
import { createPostgresPool } from "../lib/postgres/postgres-pool.ts";
import { waitForPostgres } from "../lib/postgres/wait-for-postgres.ts";
import { createRedisClient } from "../lib/redis/redis-client.ts";
import { createChainReader } from "./chain/chain-reader.ts";
import { createKnownContracts } from "./chain/known-contracts.ts";
import { keepLatestBlock } from "./chain/latest-block.ts";
import { readContracts } from "./chain/read-contracts.ts";
import { type ApiConfig, pointsOf } from "./config.ts";
import { createExplorer } from "./explorer/create-explorer.ts";
import { createPages } from "./explorer/create-pages.ts";
import { createFollower } from "./follower/follower.ts";
import { createHeadWatch } from "./follower/head-watch.ts";
import { createHeadMemo } from "./graphql/head-memo.ts";
import { createSchema } from "./graphql/schema.ts";
import { serveGraphql } from "./graphql/serve-graphql.ts";
import { createRequestLimiter } from "./limits/request-limiter.ts";
import { createLiveFeed } from "./live/live-feed.ts";
import { serveLive } from "./live/serve-live.ts";
import { type ApiMetrics, createApiMetrics, measureRequests, registerStateMetrics } from "./metrics.ts";
import { migrationsFolder } from "./postgres/migrations-folder.ts";
import { createHealth } from "./read/health.ts";
import { consensusOf, createReadModel } from "./read/read-model.ts";
import { createAnswerCache } from "./rest/answer-cache.ts";
import { createCharge } from "./rest/charge.ts";
import { allowOrigins } from "./rest/cross-origin.ts";
import { createRoutes } from "./rest/routes.ts";
import { serveRoutes } from "./rest/serve-routes.ts";

export type Api = {
  address: { host: string; port: number; opsHost: string; opsPort: number };
  /** Lets answers end, then closes everything. */
  stop(): Promise<void>;
};

const packageFile = new URL("../package.json", import.meta.url);

/**
 * Starts the API: ops server first; then, once PostgreSQL answers, its schema is brought up to date, the follower begins,
 * and the listener opens. The chain and Redis may come later.
 * @throws Error where a port is taken or a migration cannot be carried out; ConfigError where a contract's file cannot
 * be used.
 */
export async function start(
  config: ApiConfig,
  {
    logger,
    adoptChain = false,
    now = Date.now,
  }: { logger: Logger; adoptChain?: boolean; now?: () => number },
): Promise<Api> {
  const metrics = createApiMetrics();
  const { registry } = metrics;
  const progress = { state: "starting" };
  const closers: (() => unknown)[] = [];
  const close = async () => {
    for (const closer of closers.toReversed()) await closer();
  };
  try {
    const parts = await createParts({ config, metrics, logger, adoptChain, now });
    closers.push(parts.close);
    const reasons = () => parts.problems();
    const ops = await startOpsServer({
      ...config.ops,
      registry,
      readiness(): Readiness {
        const ready = progress.state === "serving";
        const found = reasons();
        return { ready, degraded: found.length > 0, reasons: ready ? found : [progress.state, ...found] };
      },
      status: () => ({ process: "api", state: progress.state, profile: config.profile, ...parts.status() }),
    });
    closers.push(() => ops.stop());
    parts.watchChain();
    await waitForPostgres({ url: config.postgres.url, name: "api", logger });
    await migrate({ url: config.postgres.url, folder: migrationsFolder, logger });
    parts.follow();
    const server = await listenOn(parts.app, config);
    closers.push(() => server.stop());
    progress.state = "serving";
    return {
      address: { host: server.host, port: server.port, opsHost: ops.host, opsPort: ops.port },
      async stop() {
        progress.state = "stopping";
        parts.endStreams();
        await close();
      },
    };
  } catch (error) {
    await close();
    throw error;
  }
}

async function createParts({
  config,
  metrics,
  logger,
  adoptChain,
  now,
}: {
  config: ApiConfig;
  metrics: ApiMetrics;
  logger: Logger;
  adoptChain: boolean;
  now: () => number;
}) {
  const { registry } = metrics;
  const { upstream, upstreamApiKey, upstreamTimeoutMs } = config;
  const headers = upstreamApiKey === "" ? {} : { "X-API-Key": upstreamApiKey };
  const redis = createRedisClient({
    name: "api",
    url: config.redis,
    commandTimeoutMs: config.redisCommandTimeoutMs,
    logger,
  });
  const pool = createPostgresPool({ ...config.postgres, name: "api", logger });
  const rpc = createRpcClient({ url: upstream, headers, timeoutMs: upstreamTimeoutMs });
  const sealSources = config.sealSources.map((url) => createRpcClient({ url, timeoutMs: 2000 }));
  const reader = createChainReader({ rpc });
  const contracts = createKnownContracts(readContracts(config.contractsFolder));
  const heads = createHeadWatch({
    rpc,
    webSocketUrl: upstream.replace(/^http/, "ws"),
    headers,
    pollMs: config.headPollMs,
    logger,
  });
  const follower = createFollower({
    rpc,
    heads,
    validators: sealSources,
    postgresUrl: config.postgres.url,
    registry,
    logger,
    isDevelopment: config.profile === "development",
    adoptChain,
  });
  const feed = createLiveFeed({ ...config.live, reader, logger });
  let isDevelopmentChain = true;
  let highest = -1;
  const cache = createAnswerCache({
    bytesMax: config.cacheBytesMax,
    canBeImmutable: () => !isDevelopmentChain,
  });
  const memo = createHeadMemo();
  const newest = keepLatestBlock({
    reader,
    heads,
    logger,
    onBlock(block) {
      isDevelopmentChain = consensusOf(block).kind === "dev";
      // A head that is not higher than the one before is another chain's.
      if (block.number <= highest) cache.chainChanged();
      else cache.headMoved();
      memo.forget();
      highest = block.number;
      feed.announce(block);
    },
  });
  const read = createReadModel({
    reader,
    // A chain that is away has no newest block: what it was is not told as if it still were.
    newest: { block: () => (heads.isAnswering() ? newest.block() : undefined) },
    db: pool,
    contracts,
    ...config,
    now,
  });
  let epoch: number | undefined;
  follower.onIndexed((end) => {
    if (epoch !== undefined && end.epoch !== epoch) cache.chainChanged();
    else cache.headMoved();
    memo.forget();
    epoch = end.epoch;
  });
  const limiter = createRequestLimiter({
    redis,
    points: pointsOf(config),
    windowSeconds: config.limits.windowSeconds,
  });
  const isAway = {
    chain: () => !heads.isAnswering(),
    redis: () => redis.status !== "ready",
    postgres: () => !follower.standing().isConnected,
  };
  registerStateMetrics({
    registry,
    liveClients: () => feed.clients(),
    cacheBytes: () => cache.bytes(),
    isAway,
  });

  const clientAddress = createClientAddress({ trustedProxies: config.trustedProxies });
  const charge = createCharge({ limiter, clientAddress });
  const bodies = createBodyReader({ what: "A query", types: [jsonType] });
  const schema = createSchema();
  const version = readVersion();
  const routes = createRoutes({
    version,
    publicUrl: config.publicUrl,
    graphqlSchema: () => printSchema(schema),
  });
  const explorer = createExplorer({
    pages: createPages(routes),
    read,
    cache,
    charge,
    settings: {
      ...config,
      limit: { points: pointsOf(config), windowSeconds: config.limits.windowSeconds },
    },
    explain: explainFailure,
    logger,
    now,
  });
  const app = createHttpService({
    refuse: explorer.refuse,
    bodies,
    bodyBytesMax: config.bodyBytesMax,
    requestTimeoutMs: config.requestTimeoutMs,
    explain: explainFailure,
    logger,
  });
  measureRequests(app, metrics);
  allowOrigins(app, { origins: config.profile === "development" ? "any" : config.origins });
  serveRoutes(app, {
    routes,
    read,
    cache,
    charge,
    canBeImmutable: () => !isDevelopmentChain,
  });
  serveGraphql(app, { schema, read, memo, charge, bodies, explain: explainFailure, logger });
  serveLive(app, { feed, charge, clientAddress });
  const health = createHealth({ heads, redis, pool, follower, version });
  explorer.addTo(app);
  app.get("/health", async (_request, reply) => {
    const record = await health();
    return reply.code(record.status === "failing" ? 503 : 200).send(record);
  });

  return {
    app,
    /** Before PostgreSQL answers: what is away is told of one by one. */
    watchChain: () => heads.start(),
    follow: () => follower.start(),
    endStreams: () => feed.stop(),
    problems: () => [
      ...(isAway.chain() ? ["the chain does not answer"] : []),
      ...(isAway.redis() ? ["Redis does not answer"] : [limiter.problem() ?? []].flat()),
      ...(isAway.postgres() ? ["PostgreSQL does not answer"] : []),
      ...[follower.standing().refused ?? []].flat(),
    ],
    status: () => ({ index: follower.standing(), head: heads.head() ?? null, liveClients: feed.clients() }),
    async close() {
      feed.stop();
      newest.stop();
      heads.stop();
      await follower.stop();
      await pool.end();
      for (const client of [rpc, ...sealSources]) await client.stop();
      redis.disconnect();
    },
  };
}

/** What a client is told of a chain or database that is away. */
function explainFailure(error: unknown): Refusal | undefined {
  if (error instanceof ChainUnavailableError) {
    return refusal(
      "upstream_unavailable",
      "The chain cannot be asked at the moment; try again shortly",
      retrySoon,
    );
  }
  if (isPostgresFailure(error)) {
    return refusal(
      "service_unavailable",
      "The index cannot be asked at the moment; try again shortly",
      retrySoon,
    );
  }
  return undefined;
}

const retrySoon = { retryAfterMs: 1000 };

function readVersion(): string {
  const { version }: { version: string } = JSON.parse(readFileSync(packageFile, "utf8"));
  return version;
}
