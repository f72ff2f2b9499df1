import { setTimeout as sleep } from "node:timers/promises";
import type { Logger } from "pino";
import type { Profile } from "../../lib/keys/api-key.ts";
import type { KeyStore } from "../../lib/keys/key-store.ts";
import type { SeedKey } from "../../lib/keys/seed-keys.ts";
import { type RedisClient, waitForRedis } from "../../lib/redis/redis-client.ts";
import { isRedisFailure } from "../../lib/redis/redis-failure.ts";
import type { ConfiguredKey } from "../config.ts";

const pauseMs = 500;

/** The keys of the configuration as the key store takes them. */
export function seedsOf(keys: readonly ConfiguredKey[]): SeedKey[] {
  return keys.map(({ value, expiresAt, ...settings }) => ({
    ...settings,
    secret: value,
    ...(expiresAt === undefined ? {} : { expiresAtMs: Date.parse(expiresAt) }),
  }));
}

/**
 * Writes the configured keys to Redis, once it answers. A Redis that falls silent meanwhile does not end the gateway:
 * seeding is repeated until it succeeds, and changes nothing the second time.
 *
 * @throws ReplyError for an error that Redis answers: it would answer the same again.
 */
export async function seedConfiguredKeys({
  redis,
  keyStore,
  keys,
  profile,
  logger,
}: {
  redis: RedisClient;
  keyStore: Pick<KeyStore, "seed">;
  keys: readonly SeedKey[];
  profile: Profile;
  logger: Logger;
}): Promise<void> {
  for (;;) {
    await waitForRedis({ redis, logger });
    try {
      await keyStore.seed({ keys, profile });
      return;
    } catch (error) {
      if (!isRedisFailure(error) || (error instanceof Error && error.name === "ReplyError")) throw error;
      logger.warn({ err: error }, "Redis did not take the configured keys; trying again");
      await sleep(pauseMs);
    }
  }
}
