import { readFileSync } from "node:fs";
import { z } from "zod";
import { readConfig } from "../../lib/config/read-config.ts";
import { bounded, logSettings, privateListener, profile, url } from "../../lib/config/schemas.ts";
import { redisUrl } from "../../lib/redis/redis-address.ts";
import { devRedisFiles } from "../keys/find-redis-url.ts";

export type BackupConfig = z.output<typeof configSchema>;

const devPostgresFile = ".data/postgres/url";
const path = z.string().default("");

const configSchema = z.strictObject({
  profile: profile.default("development"),
  to: z.string().min(1),
  keys: z.string().min(1),
  redis: z.literal("").or(redisUrl).default(""),
  redisFaucet: z.literal("").or(redisUrl).default(""),
  postgres: z
    .literal("")
    .or(url(["postgres:", "postgresql:"]))
    .default(""),
  networkFolder: path,
  postgresTools: path,
  postgresRequests: path,
  postgresCopyTimeoutMs: bounded(86_400_000, 1000).default(14_400_000),
  walSpool: path,
  everyHours: bounded(24 * 31).default(24),
  keep: bounded(1000).default(14),
  walEveryMs: bounded(600_000, 100).default(10_000),
  ops: privateListener(9570),
  log: logSettings,
});

/**
 * Reads `config/backup.yaml` or another file of its shape. In the development profile the databases of a running `npm start` stand in for
 * addresses that are not set.
 * @throws ConfigError naming file, line, key and what was expected.
 */
export function readBackupConfig({
  file,
  env,
}: {
  file: string;
  env: Readonly<Record<string, string | undefined>>;
}): BackupConfig {
  const config = readConfig({ file, schema: configSchema, env });
  // A production machine has no npm start; what lies in .data there must not decide what is backed up.
  if (config.profile !== "development") return config;
  return {
    ...config,
    redis: config.redis || devUrl(devRedisFiles.gateway),
    redisFaucet: config.redisFaucet || devUrl(devRedisFiles.faucet),
    postgres: config.postgres || devUrl(devPostgresFile),
  };
}

function devUrl(file: string): string {
  try {
    return readFileSync(file, "utf8").trim();
  } catch {
    return "";
  }
}
