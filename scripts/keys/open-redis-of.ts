import { type OptionTable, textOf, type Values } from "../../lib/cli/command.ts";
import type { Profile } from "../../lib/keys/api-key.ts";
import type { RedisClient } from "../../lib/redis/redis-client.ts";
import { devRedisFiles } from "./find-redis-url.ts";
import { openRedis } from "./open-redis.ts";

/** The options of every command that works on a process's Redis. `name`: the process with that configuration. */
export function redisOptions({
  name,
  file,
  owner,
}: {
  name: string;
  file: string;
  owner: keyof typeof devRedisFiles;
}): OptionTable {
  return {
    redis: {
      value: "URL",
      text: `the Redis (else that of --config, REDIS_URL, ${devRedisFiles[owner]} of npm start, the default)`,
    },
    config: { value: "FILE", text: `${name}'s configuration (else ${file})` },
    json: { text: "the answer as JSON on stdout" },
    help: { text: "this text" },
  };
}

export type OpenedRedis<Config> = { redis: RedisClient; config: Config; json: boolean; close: () => void };

/** Reads a process's configuration and connects to its Redis. Throws a CommandError where Redis does not answer. */
export async function openRedisOf<Config extends { redis: string; profile: Profile }>({
  name,
  owner,
  file,
  readConfig,
  values,
  env,
  note,
}: {
  /** Shown by CLIENT LIST. */
  name: string;
  /** Whose Redis it is where `npm start` runs. */
  owner: keyof typeof devRedisFiles;
  file: string;
  readConfig: (source: { file: string; env: Readonly<Record<string, string | undefined>> }) => Config;
  values: Values;
  env: Readonly<Record<string, string | undefined>>;
  note: (text: string) => void;
}): Promise<OpenedRedis<Config>> {
  const configFile = textOf(values, "config");
  const config = readConfig({ file: configFile ?? file, env });
  const redis = await openRedis({
    name,
    option: textOf(values, "redis"),
    configured: configFile === undefined ? undefined : config.redis,
    environment: env["REDIS_URL"],
    // A production machine has no npm start. A file in .data there must not decide which Redis is changed.
    devFile: config.profile === "development" ? devRedisFiles[owner] : undefined,
    fallback: config.redis,
    note,
  });
  return { redis, config, json: values["json"] === true, close: () => redis.disconnect() };
}
