import { faucetDataKey, faucetMigratingKey } from "../../../../lib/redis/keys/data.ts";
import type { RedisData, RedisMigration } from "../../../../lib/redis/migrate-data.ts";
import type { RedisClient } from "../../../../lib/redis/redis-client.ts";

const piece = 50;
export const sampleCount = 1000;
export const sampleKey = (number: number) => `{faucet}:sample:${number}`;

/** Writes what the first version does: hashes with `label`. */
export async function writeSamples(redis: RedisClient): Promise<void> {
  const pipeline = redis.pipeline();
  for (let number = 0; number < sampleCount; number += 1)
    pipeline.hset(sampleKey(number), { label: `l${number}`, changes: 0 });
  await pipeline.exec();
}

/** A migration as one is meant to be: it adds `name` beside `label`, which the version before goes on reading. */
export function sampleData({ onPiece = () => {} }: { onPiece?: (count: number) => void } = {}): RedisData {
  let count = 0;
  const addName: RedisMigration = {
    name: "v0.2.0-add-name",
    lets: "0.1.0",
    async step(redis, cursor) {
      const from = Number(cursor);
      for (let number = from; number < from + piece; number += 1) {
        const label = await redis.hget(sampleKey(number), "label");
        await redis.hset(sampleKey(number), "name", label ?? "");
        await redis.hincrby(sampleKey(number), "changes", 1);
      }
      count += 1;
      onPiece(count);
      return from + piece < sampleCount ? String(from + piece) : undefined;
    },
  };
  return {
    holds: "samples",
    dataKey: faucetDataKey,
    lockKey: faucetMigratingKey,
    migrations: [{ name: "v0.1.0-first", lets: "0.1.0", step: async () => undefined }, addName],
  };
}
