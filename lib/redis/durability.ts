import { Cluster, type Redis } from "ioredis";
import type { RedisClient } from "./redis-client.ts";

/**
 * Why writes that Redis has confirmed may be gone after a crash of it; undefined where they are safe. Of a cluster that
 * of the first master that has one.
 */
export async function durabilityWarning(redis: RedisClient): Promise<string | undefined> {
  if (!(redis instanceof Cluster)) return warningOf(redis);
  const warnings = await Promise.all(
    redis.nodes("master").map(async (node) => {
      const warning = await warningOf(node);
      return warning === undefined ? [] : [`${node.options.host}:${node.options.port}: ${warning}`];
    }),
  );
  return warnings.flat()[0];
}

async function warningOf(redis: Redis): Promise<string | undefined> {
  const persistence = await redis.info("persistence").catch(() => "");
  if (persistence === "") return "whether Redis keeps an append-only file cannot be asked";
  if (!/^aof_enabled:1\r?$/m.test(persistence)) return "Redis keeps no append-only file (appendonly is off)";
  // Hosted Redis services forbid CONFIG.
  const answer = await redis.config("GET", "appendfsync").catch(() => undefined);
  const [, mode] = Array.isArray(answer) ? answer : [];
  if (mode === undefined) return "whether Redis writes its append-only file at once cannot be asked";
  return mode === "always"
    ? undefined
    : `Redis writes its append-only file late (appendfsync ${mode}, not always)`;
}
