import { readFileSync } from "node:fs";
import { CommandError } from "../../lib/cli/command.ts";
import { readRedisAddress } from "../../lib/redis/redis-address.ts";
import type { RedisClient } from "../../lib/redis/redis-client.ts";

/** Where `npm start` writes the addresses of the Redis servers that it runs on free ports. */
export const devRedisFiles = { gateway: ".data/redis/url", faucet: ".data/redis-faucet/url" } as const;

/**
 * Finds the Redis to use, the first of: the option, that of a configuration which was named, REDIS_URL, that of a running
 * `npm start` (and says so), that of the default configuration.
 */
export async function findRedisUrl({
  option,
  configured,
  environment,
  devFile,
  fallback,
  connect,
  note,
}: {
  option: string | undefined;
  configured: string | undefined;
  environment: string | undefined;
  /** Where a running `npm start` has written it; undefined: not to be looked for. */
  devFile: string | undefined;
  fallback: string;
  connect: (url: string) => Promise<{ redis: RedisClient } | { failed: string }>;
  note: (text: string) => void;
}): Promise<string> {
  if (option !== undefined) return checked("--redis", option);
  if (configured !== undefined) return configured;
  if (environment !== undefined && environment !== "") return checked("REDIS_URL", environment);
  const url = devFile === undefined ? undefined : readDevUrl(devFile);
  if (url === undefined) return fallback;
  // The file of a start that was killed stays behind.
  const connected = await connect(url);
  if ("failed" in connected) return fallback;
  connected.redis.disconnect();
  note(`Using the Redis of npm start (${url}).`);
  return url;
}

function checked(name: string, text: string): string {
  const read = readRedisAddress(text);
  if (!("expected" in read)) return text;
  throw new CommandError(
    `${name}: expected an address such as redis://127.0.0.1:6379, or redis-cluster://host:port?node=host:port (${read.expected}).`,
    { exitCode: 2 },
  );
}

function readDevUrl(file: string): string | undefined {
  try {
    const text = readFileSync(file, "utf8").trim();
    return isRedisUrl(text) ? text : undefined;
  } catch {
    return undefined;
  }
}

function isRedisUrl(text: string): boolean {
  return !("expected" in readRedisAddress(text));
}
