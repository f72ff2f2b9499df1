import { pino } from "pino";
import type { Test } from "tap";
import type { FoundKey } from "../../../lib/keys/key-reader.ts";
import type { KeySettings } from "../../../lib/keys/key-record.ts";
import { createKeyStore, type KeyStore } from "../../../lib/keys/key-store.ts";
import { createRedisClient, type RedisClient, waitForRedis } from "../../../lib/redis/redis-client.ts";
import { findKeys, type RedisUnderTest, startRedis } from "../../helpers/redis.ts";
import { waitFor } from "../../helpers/wait-for.ts";

export type KeyRig = {
  server: RedisUnderTest;
  redis: RedisClient;
  store: KeyStore;
  /** One more connection, as another process would have. */
  connect(): Promise<RedisClient>;
};

export const acmeKey: KeySettings = { team: "acme", label: "acme staging", permissions: ["rpc"], qa: false };

/** A Redis of its own with the team `acme`, and a key store before it; all until the test ends. */
export async function startKeyRig(
  t: Test,
  options: { now?: () => number; randomBytes?: (size: number) => Uint8Array } = {},
): Promise<KeyRig> {
  const server = await startRedis(t);
  const connect = async () => {
    const logger = pino({ level: "silent" });
    const redis = createRedisClient({ url: server.url, name: "test", logger, commandTimeoutMs: 1_000 });
    t.teardown(() => redis.disconnect());
    await waitForRedis({ redis, logger });
    return redis;
  };
  const redis = await connect();
  const store = createKeyStore({ redis, ...options });
  await store.setTeam({ name: "acme" });
  return { server, redis, store, connect };
}

/** Makes a key, which a test relies on rather than tests. */
export async function mustCreate(store: KeyStore, more: Partial<Parameters<KeyStore["create"]>[0]> = {}) {
  const result = await store.create({ ...acmeKey, profile: "production", ...more });
  if (result.outcome !== "created") throw new Error(result.outcome);
  return result;
}

export async function mustFind(store: KeyStore, hash: string): Promise<FoundKey> {
  const found = await store.find(hash);
  if (found === undefined) throw new Error("not found");
  return found;
}

/** Everything that Redis holds, as text. */
export async function dump(redis: RedisClient): Promise<string> {
  const lines: string[] = [];
  for (const key of (await findKeys(redis, "*")).sort()) {
    const value = (await redis.type(key)) === "hash" ? await redis.hgetall(key) : await redis.get(key);
    lines.push(`${key} ${JSON.stringify(value, Object.keys(Object(value)).sort())}`);
  }
  return lines.join("\n");
}

/** Waits until something holds; a command that Redis does not answer meanwhile says no. */
export function waitForStore(what: string, holds: () => boolean | Promise<boolean>): Promise<boolean> {
  return waitFor(what, () => Promise.resolve(holds()).catch(() => false));
}
