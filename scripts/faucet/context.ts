import { type AllowlistStore, createAllowlistStore } from "../../faucet/allowlist/allowlist-store.ts";
import { type FaucetConfig, readFaucetConfig } from "../../faucet/config.ts";
import type { Values } from "../../lib/cli/command.ts";
import { type OpenedRedis, openRedisOf, redisOptions } from "../keys/open-redis-of.ts";

const file = "config/faucet.yaml";
const owner = "faucet";

export const commonOptions = redisOptions({ name: "the faucet", file, owner });

export type Context = OpenedRedis<FaucetConfig> & { allowlist: AllowlistStore };

/** Reads the faucet's configuration and connects to its Redis. Throws a CommandError where Redis does not answer. */
export async function openContext(asked: {
  values: Values;
  env: Readonly<Record<string, string | undefined>>;
  note: (text: string) => void;
}): Promise<Context> {
  const opened = await openRedisOf({
    ...asked,
    name: "tollgate-faucet-command",
    file,
    owner,
    readConfig: readFaucetConfig,
  });
  return { ...opened, allowlist: createAllowlistStore({ redis: opened.redis }) };
}
