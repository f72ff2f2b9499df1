import type { RedisClient } from "./redis-client.ts";
import { defineScript, runScript } from "./run-script.ts";

const timeScript = defineScript("return redis.call('TIME')", { readsOnly: true });

/** The time of the Redis that has a key, in Unix milliseconds: each node of a cluster has a clock of its own. */
export async function readTime(redis: RedisClient, key: string): Promise<number> {
  const answer = await runScript({ redis, script: timeScript, keys: [key], args: [] });
  const [seconds, microseconds] = (Array.isArray(answer) ? answer : []).map(Number);
  if (seconds === undefined || microseconds === undefined)
    throw new Error("Redis did not answer with its time");
  return seconds * 1000 + Math.floor(microseconds / 1000);
}
