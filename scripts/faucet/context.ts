import type { Redis } from "ioredis";
import { type AllowlistStore, createAllowlistStore } from "../../faucet/allowlist/allowlist-store.ts";
import { type FaucetConfig, readFaucetConfig } from "../../faucet/config.ts";
import { type OptionTable, textOf, type Values } from "../../lib/command-line/command.ts";
import { devRedisFile } from "../keys/find-redis-url.ts";
import { openRedis } from "../keys/open-redis.ts";

export const commonOptions: OptionTable = {
  redis: {
    value: "URL",
    text: `the Redis (else that of --config, REDIS_URL, ${devRedisFile} of npm start, the default)`,
  },
  config: { value: "FILE", text: "the faucet's configuration (else config/faucet.yaml)" },
  json: { text: "the answer as JSON on stdout" },
  help: { text: "this text" },
};

export type Context = {
  redis: Redis;
  config: FaucetConfig;
  allowlist: AllowlistStore;
  json: boolean;
  close: () => void;
};

/** Reads the faucet's configuration and connects to its Redis. Throws a CommandError where Redis does not answer. */
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
  const config = readFaucetConfig({ file: configFile ?? "config/faucet.yaml", env });
  const redis = await openRedis({
    name: "tollgate-faucet-command",
    option: textOf(values, "redis"),
    configured: configFile === undefined ? undefined : config.redis,
    environment: env["REDIS_URL"],
    lookForDev: config.profile === "development",
    fallback: config.redis,
    note,
  });
  return {
    redis,
    config,
    allowlist: createAllowlistStore({ redis }),
    json: values["json"] === true,
    close: () => redis.disconnect(),
  };
}
