import { createHash } from "node:crypto";
import type { Redis } from "ioredis";

export type Script = { lua: string; sha1: string };

export function defineScript(lua: string): Script {
  return { lua, sha1: createHash("sha1").update(lua).digest("hex") };
}

/**
 * Runs a script by its SHA-1, and by its text where this Redis has not seen it yet (after a restart or a failover).
 * Nothing else is asked twice: a command whose answer was lost may have been carried out.
 */
export async function runScript({
  redis,
  script,
  keys,
  args,
}: {
  redis: Redis;
  script: Script;
  keys: readonly string[];
  args: readonly (string | number)[];
}): Promise<unknown> {
  try {
    return await redis.evalsha(script.sha1, keys.length, ...keys, ...args);
  } catch (error) {
    if (!(error instanceof Error) || !error.message.startsWith("NOSCRIPT")) throw error;
    return redis.eval(script.lua, keys.length, ...keys, ...args);
  }
}
