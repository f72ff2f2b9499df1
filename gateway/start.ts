import type { Logger } from "pino";
import { createKeyStore } from "../lib/key-store/key-store.ts";
import { type Readiness, startOpsServer } from "../lib/ops-server.ts";
import { createRedisClient, waitForRedis } from "../lib/redis-client.ts";
import type { GatewayConfig } from "./config.ts";
import { startHttpServer } from "./http-server.ts";
import { createKeyCache } from "./key-cache.ts";
import { readMethodTable } from "./method-table.ts";
import { createGatewayMetrics } from "./metrics.ts";
import { createPipeline } from "./pipeline.ts";
import { createUpstream } from "./upstream/upstream.ts";

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
  { logger, now = Date.now }: { logger: Logger; now?: () => number },
): Promise<Gateway> {
  const methods = readMethodTable(config.methodsFile);
  const metrics = createGatewayMetrics();
  const redis = createRedisClient({ url: config.redis, name: "tollgate-gateway", logger });
  const upstream = createUpstream({ urls: config.upstreams, forward: config.forward, logger, metrics, now });
  const keyStore = createKeyStore({ redis, now });
  const keyCache = createKeyCache({ findKey: (hash) => keyStore.find(hash) });
  let serving = false;

  const readiness = (): Readiness => {
    const reasons = [];
    if (redis.status !== "ready") reasons.push("Redis does not answer");
    const validators = upstream.status();
    if (validators.every(({ answering }) => answering === false)) reasons.push("no validator answers");
    return {
      ready: serving,
      degraded: reasons.length > 0,
      reasons: serving ? reasons : ["starting", ...reasons],
    };
  };
  const ops = await startOpsServer({
    ...config.ops,
    registry: metrics.registry,
    readiness,
    status: () => ({
      process: "gateway",
      profile: config.profile,
      redis: redis.status,
      validators: upstream.status(),
    }),
  });

  const close = async () => {
    await upstream.stop();
    redis.disconnect();
    await ops.stop();
  };
  try {
    await waitForRedis({ redis, logger });
    await keyStore.seed({ keys: config.keys, profile: config.profile });
    const handle = createPipeline({
      limits: config.limits,
      findKey: (hash) => keyCache.find(hash),
      methods,
      upstream,
      metrics,
      logger,
      now,
    });
    const http = await startHttpServer({ host: config.host, port: config.port, handle });
    serving = true;
    return {
      address: { host: http.host, port: http.port, opsHost: ops.host, opsPort: ops.port },
      async stop() {
        serving = false;
        await http.stop({ timeoutMs: config.stopTimeoutMs });
        await close();
      },
    };
  } catch (error) {
    await close();
    throw error;
  }
}
