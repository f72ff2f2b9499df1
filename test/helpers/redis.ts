import { type OwnRedis, startOwnRedis } from "../../scripts/processes/own-redis.ts";
import type { Teardown } from "../../scripts/processes/teardown.ts";

export type RedisUnderTest = OwnRedis;

/** A real redis-server of its own on a free loopback port, with AOF, gone when the test ends. */
export async function startRedis(t: Teardown): Promise<RedisUnderTest> {
  return await startOwnRedis(t);
}
