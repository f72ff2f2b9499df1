import type { Redis } from "ioredis";
import { pino } from "pino";
import { type GatewayConfig, readGatewayConfig } from "../../gateway/config.ts";
import { createKeyStore, type KeyStore } from "../../lib/key-store/key-store.ts";
import { createRedisClient } from "../../lib/redis-client.ts";
import { CommandError, type OptionTable, textOf, type Values } from "./command.ts";
import { devRedisFile, findRedisUrl } from "./find-redis-url.ts";

export const commonOptions: OptionTable = {
  redis: {
    value: "URL",
    text: `the Redis (else that of --config, REDIS_URL, ${devRedisFile} of npm start, the default)`,
  },
  config: { value: "FILE", text: "the gateway's configuration (else config/gateway.yaml)" },
  json: { text: "the answer as JSON on stdout" },
  help: { text: "this text" },
};

export type Context = {
  store: KeyStore;
  redis: Redis;
  config: GatewayConfig;
  json: boolean;
  close: () => void;
};

const connectTimeoutMs = 3_000;
const commandTimeoutMs = 5_000;

/** Reads the gateway's configuration and connects to its Redis. Throws a CommandError where Redis does not answer. */
export async function openContext({
  values,
  env,
  note,
}: {
  values: Values;
  env: Readonly<Record<string, string | undefined>>;
  note: (text: string) => void;
}): Promise<Context> {
  const configFile = textOf(values, "config");
  const config = readGatewayConfig({ file: configFile ?? "config/gateway.yaml", env });
  const url = await findRedisUrl({
    option: textOf(values, "redis"),
    configured: configFile === undefined ? undefined : config.redis,
    environment: env["REDIS_URL"],
    // A production machine has no npm start; what lies in .data there must not decide which keys are changed.
    lookForDev: config.profile === "development",
    fallback: config.redis,
    connect,
    note,
  });
  const connected = await connect(url);
  if ("failed" in connected) {
    throw new CommandError(
      `Redis at ${withoutPassword(url)} cannot be used (${connected.failed}); name another with --redis URL.`,
      { exitCode: 1 },
    );
  }
  const { redis } = connected;
  return {
    redis,
    store: createKeyStore({ redis }),
    config,
    json: values["json"] === true,
    close: () => redis.disconnect(),
  };
}

/** A connection that is ready, or why there is none. */
async function connect(url: string): Promise<{ redis: Redis } | { failed: string }> {
  const logger = pino({ level: "silent" });
  const redis = createRedisClient({ url, name: "tollgate-keys", logger, commandTimeoutMs, connectTimeoutMs });
  const failed = await new Promise<string | undefined>((resolve) => {
    const timer = setTimeout(() => resolve(`no answer within ${connectTimeoutMs} ms`), connectTimeoutMs);
    const settle = (failure: string | undefined) => {
      clearTimeout(timer);
      resolve(failure);
    };
    redis.once("ready", () => settle(undefined));
    redis.once("error", (error: Error & { code?: string }) => settle(error.code ?? error.message));
  });
  if (failed === undefined) return { redis };
  redis.disconnect();
  return { failed };
}

function withoutPassword(url: string): string {
  const { protocol, host } = new URL(url);
  return `${protocol}//${host}`;
}
