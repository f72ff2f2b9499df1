import type { Redis } from "ioredis";
import { type GatewayConfig, readGatewayConfig } from "../../gateway/config.ts";
import { type OptionTable, textOf, type Values } from "../../lib/command-line/command.ts";
import { createKeyStore, type KeyStore } from "../../lib/key-store/key-store.ts";
import { devRedisFile } from "./find-redis-url.ts";
import { openRedis } from "./open-redis.ts";

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
  const redis = await openRedis({
    name: "tollgate-keys",
    option: textOf(values, "redis"),
    configured: configFile === undefined ? undefined : config.redis,
    environment: env["REDIS_URL"],
    // A production machine has no npm start; what lies in .data there must not decide which keys are changed.
    lookForDev: config.profile === "development",
    fallback: config.redis,
    note,
  });
  return {
    redis,
    store: createKeyStore({ redis }),
    config,
    json: values["json"] === true,
    close: () => redis.disconnect(),
  };
}
