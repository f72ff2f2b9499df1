import { fileURLToPath } from "node:url";
import { Redis } from "ioredis";
import { type ApiConfig, readApiConfig } from "../../api/config.ts";
import { ConfigError } from "../../lib/config/read-config.ts";
import type { Profile } from "../../lib/keys/api-key.ts";
import { createKeyStore } from "../../lib/keys/key-store.ts";
import { ensureServiceKey } from "../keys/service-key.ts";
import { reachableUrl } from "../processes/reachable-url.ts";
import { processService } from "./process-service.ts";
import type { Service } from "./service.ts";

const endWithinMs = 10_000;

/**
 * The API. It calls the gateway with its own key, so that its calls count in no partner's limit.
 * @throws ConfigError where its file cannot be used, or names its own Redis, PostgreSQL or gateway.
 */
export function apiService({
  configFile,
  env,
  gatewayUrl,
  certFile,
  profile,
  walletPort,
  isNewChain,
  nodeProgram,
}: {
  configFile: string;
  env: Readonly<Record<string, string | undefined>>;
  gatewayUrl: string;
  /** The gateway's certificate, where it speaks HTTPS: a self-signed one is its own authority. */
  certFile: string | undefined;
  /** The gateway's profile, which decides what keys it takes. */
  profile: Profile;
  /** Where the explorer sends people who want the network in their wallet. */
  walletPort: number;
  /** The database of POSTGRES_URL may still hold the index of an earlier chain. */
  isNewChain: boolean;
  nodeProgram: string;
}): Service & { explorerUrl: string; fees: ApiConfig["fees"] } {
  const config = readUsableConfig({ configFile, env });
  let apiKey = "";
  const service = processService({
    description: {
      name: "api",
      main: fileURLToPath(new URL("../../api/main.ts", import.meta.url)),
      configFile,
      host: config.host,
      port: config.port,
      isTls: false,
      ops: config.ops,
      args: isNewChain ? ["--adopt-chain"] : [],
      env: ({ postgres, faucetPage = "" }) => ({
        POSTGRES_URL: postgres,
        API_UPSTREAM: gatewayUrl,
        API_UPSTREAM_KEY: apiKey,
        // Wallets are shown it when somebody signs in, so it has to be the address that is opened.
        API_PUBLIC_URL: env["API_PUBLIC_URL"] ?? reachableUrl(config),
        API_FAUCET_URL: faucetPage,
        // The gateway, which tells whose page of the explorer it passes on.
        API_TRUSTED_PROXIES: env["API_TRUSTED_PROXIES"] ?? "127.0.0.1,::1",
        API_WALLET_PROXY_URL: `${reachableUrl({ host: "127.0.0.1", port: walletPort })}/`,
        ...(certFile === undefined ? {} : { NODE_EXTRA_CA_CERTS: certFile }),
      }),
      endWithinMs,
      data: "(explorer; shops at /merchant)",
    },
    nodeProgram,
  });
  return {
    name: "api",
    explorerUrl: reachableUrl(config),
    fees: config.fees,
    ports: service.ports,
    async start(context) {
      const { addresses, data } = context;
      if (addresses.redis === undefined) return { failed: "there is no Redis for the API's key" };
      apiKey = await makeKey({ redisUrl: addresses.redis, file: data.apiKeyFile, profile });
      return service.start(context);
    },
  };
}

/** @throws Error where Redis does not answer or takes no more keys. */
async function makeKey({
  redisUrl,
  file,
  profile,
}: {
  redisUrl: string;
  file: string;
  profile: Profile;
}): Promise<string> {
  const redis = new Redis(redisUrl, { lazyConnect: true, maxRetriesPerRequest: 1 });
  try {
    await redis.connect();
    const store = createKeyStore({ redis });
    const label = "npm start's API";
    return (await ensureServiceKey({ store, service: "api", label, file, profile })).secret;
  } finally {
    redis.disconnect();
  }
}

/** Reads the file as the API does, so that the printed table is right. */
function readUsableConfig({
  configFile,
  env,
}: {
  configFile: string;
  env: Readonly<Record<string, string | undefined>>;
}): ApiConfig {
  // The addresses of Redis, PostgreSQL and the gateway are known when they run; placeholders stand in until then.
  const standIns = {
    REDIS_URL: "redis://set-by-npm-start",
    POSTGRES_URL: "postgres://set-by-npm-start/tollgate",
    API_UPSTREAM: "http://set-by-npm-start",
  };
  const config = readApiConfig({ file: configFile, env: { ...env, ...standIns } });
  if (
    config.redis !== standIns.REDIS_URL ||
    config.postgres.url !== standIns.POSTGRES_URL ||
    config.upstream !== standIns.API_UPSTREAM
  ) {
    throw new ConfigError([
      `${configFile}: redis: \${REDIS_URL}, postgres.url: \${POSTGRES_URL} and upstream: \${API_UPSTREAM} were expected, ` +
        "where npm start puts its own",
    ]);
  }
  if ([config.port, config.ops.port].includes(0)) {
    throw new ConfigError([`${configFile}: port and ops.port cannot be 0 for npm start`]);
  }
  return config;
}
