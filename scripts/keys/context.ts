import { type GatewayConfig, readGatewayConfig } from "../../gateway/config.ts";
import type { Values } from "../../lib/cli/command.ts";
import { createKeyStore, type KeyStore } from "../../lib/keys/key-store.ts";
import { keysData } from "../../lib/redis/data-migrations.ts";
import { checkRedisData } from "../../lib/redis/migrate-data.ts";
import { type OpenedRedis, openRedisOf, redisOptions } from "./open-redis-of.ts";

const file = "config/gateway.yaml";
const owner = "gateway";

export const commonOptions = redisOptions({ name: "the gateway", file, owner });

export type Context = OpenedRedis<GatewayConfig> & { store: KeyStore };

/** Reads the gateway's configuration and connects to its Redis. Throws a CommandError where Redis does not answer. */
export async function openContext(asked: {
  values: Values;
  env: Readonly<Record<string, string | undefined>>;
  note: (text: string) => void;
}): Promise<Context> {
  const opened = await openRedisOf({
    ...asked,
    name: "tollgate-keys",
    file,
    owner,
    readConfig: readGatewayConfig,
  });
  try {
    await checkRedisData({ redis: opened.redis, data: keysData });
  } catch (error) {
    opened.redis.disconnect();
    throw error;
  }
  return { ...opened, store: createKeyStore({ redis: opened.redis }) };
}
