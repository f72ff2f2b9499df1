import { readFileSync } from "node:fs";
import type { Redis } from "ioredis";
import { CommandError } from "../../lib/command-line/command.ts";

/** Where `npm start` writes the address of the Redis that it runs on a free port. */
export const devRedisFile = ".data/redis/url";

/**
 * Which Redis is meant, the first that is there: the option, that of a configuration which was named, REDIS_URL, that of
 * a running `npm start` (which is said), that of the default configuration.
 */
export async function findRedisUrl({
  option,
  configured,
  environment,
  lookForDev,
  fallback,
  connect,
  note,
}: {
  option: string | undefined;
  configured: string | undefined;
  environment: string | undefined;
  lookForDev: boolean;
  fallback: string;
  connect: (url: string) => Promise<{ redis: Redis } | { failed: string }>;
  note: (text: string) => void;
}): Promise<string> {
  if (option !== undefined) return checked("--redis", option);
  if (configured !== undefined) return configured;
  if (environment !== undefined && environment !== "") return checked("REDIS_URL", environment);
  const url = lookForDev ? readDevUrl() : undefined;
  if (url === undefined) return fallback;
  // The file of a start that was killed stays behind.
  const connected = await connect(url);
  if ("failed" in connected) return fallback;
  connected.redis.disconnect();
  note(`Using the Redis of npm start (${url}).`);
  return url;
}

function checked(name: string, text: string): string {
  if (isRedisUrl(text)) return text;
  throw new CommandError(`${name}: expected an address such as redis://127.0.0.1:6379.`, { exitCode: 2 });
}

function readDevUrl(): string | undefined {
  try {
    const text = readFileSync(devRedisFile, "utf8").trim();
    return isRedisUrl(text) ? text : undefined;
  } catch {
    return undefined;
  }
}

function isRedisUrl(text: string): boolean {
  return URL.canParse(text) && ["redis:", "rediss:"].includes(new URL(text).protocol);
}
