import { faucetPausedKey } from "../../lib/redis/keys/faucet.ts";
import type { RedisClient } from "../../lib/redis/redis-client.ts";

/** The operators' switch, for all replicas: while it is set, no claim is taken and none that waits is signed. */
export function createPause({ redis }: { redis: RedisClient }) {
  return {
    /** `false` where it was paused already. */
    async pause(): Promise<boolean> {
      return (await redis.set(faucetPausedKey, String(Date.now()), "NX")) === "OK";
    },

    /** `false` where it was not paused. */
    async resume(): Promise<boolean> {
      return (await redis.del(faucetPausedKey)) === 1;
    },
  };
}
