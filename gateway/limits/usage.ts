import { keyBudgetKey, teamBudgetKey } from "../../lib/redis/keys/gateway.ts";
import { readTime } from "../../lib/redis/read-time.ts";
import type { RedisClient } from "../../lib/redis/redis-client.ts";

export type Usage = {
  /** Points taken in the window that runs now; those that a gateway holds in advance are among them. */
  window: { used: number; endsInMs: number } | undefined;
  /** Points taken on this UTC day, by Redis's clock. Points lost with a gateway that crashed are among them. */
  today: number;
};

/**
 * Use of a key, and of its team over all keys (counted only while the team has a cap), for `keys show`. One round
 * trip. Rejects where Redis does not answer.
 */
export async function readUsage({
  redis,
  keyId,
  team,
}: {
  redis: RedisClient;
  keyId: string;
  team: string;
}): Promise<{ key: Usage; team: Usage }> {
  const [nowMs, key, cap] = await Promise.all([
    readTime(redis, keyBudgetKey({ team, keyId })),
    redis.hmget(keyBudgetKey({ team, keyId }), "e", "u", "d", "n"),
    redis.hmget(teamBudgetKey(team), "e", "u", "d", "n"),
  ]);
  return { key: toUsage(key, nowMs), team: toUsage(cap, nowMs) };
}

function toUsage(fields: readonly (string | null)[], nowMs: number): Usage {
  const [ends = 0, used = 0, day = -1, today = 0] = fields.map((field) => Number(field ?? 0));
  const endsInMs = ends - nowMs;
  return {
    window: endsInMs > 0 ? { used, endsInMs } : undefined,
    today: day === Math.floor(nowMs / 86_400_000) ? today : 0,
  };
}
