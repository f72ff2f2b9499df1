import { faucetFenceKey, faucetLeaderKey } from "../../lib/redis/keys/faucet.ts";
import type { RedisClient } from "../../lib/redis/redis-client.ts";
import { runScript } from "../../lib/redis/run-script.ts";
import { holdScript, releaseScript } from "../claims/payment-scripts.ts";

/** A round that lasts longer hangs, and another replica takes over. */
const renewedMaxMs = 60_000;

export type Leader = ReturnType<typeof createLeader>;

/**
 * One replica pays at a time: the holder of a lock in Redis that ends `leaderMs` after it was last renewed. Each time it
 * is taken it gets a higher fencing number, without which no script of the payments changes anything.
 */
export function createLeader({ redis, leaderMs }: { redis: RedisClient; leaderMs: number }) {
  let fence: string | undefined;

  async function hold(): Promise<string | undefined> {
    const answer = await runScript({
      redis,
      script: holdScript,
      keys: [faucetLeaderKey, faucetFenceKey],
      args: [fence ?? "", leaderMs],
    });
    fence = typeof answer === "string" ? answer : undefined;
    return fence;
  }

  return {
    /** Takes or renews the lock. Answers the fencing number, `undefined` while another replica holds it. */
    hold,

    /** Renews the lock while `work` lasts, because a slow chain can make it longer than `leaderMs`. This has a bound. */
    async whileRenewed<Value>(work: () => Promise<Value>): Promise<Value> {
      // If a renewal fails or comes too late, the scripts of `work` find another fencing number, or none.
      const renewing = setInterval(() => void hold().catch(() => {}), leaderMs / 3);
      const end = setTimeout(() => clearInterval(renewing), renewedMaxMs);
      try {
        return await work();
      } finally {
        clearInterval(renewing);
        clearTimeout(end);
      }
    },

    isHeld: () => fence !== undefined,

    /** Gives the lock back, so that another replica need not wait for its end. */
    async release(): Promise<void> {
      if (fence === undefined) return;
      const held = fence;
      fence = undefined;
      await runScript({ redis, script: releaseScript, keys: [faucetLeaderKey], args: [held] });
    },
  };
}
