import { faucetChainKey, faucetWalletKey } from "../../lib/redis/keys/faucet.ts";
import type { RedisClient } from "../../lib/redis/redis-client.ts";

/** What the replica that pays writes of its chain and its wallet. No payment depends on it, so no fencing number guards it. */
export function createWalletRecords({ redis }: { redis: RedisClient }) {
  return {
    async bindChain(chain: { genesisHash: string; wallet: string }): Promise<void> {
      await redis.hset(faucetChainKey, chain);
    },

    /** `waits`: why no payment is made at the moment, in words for everybody; empty if payments are made. */
    async publishWallet(seen: {
      balanceWei: bigint;
      height: number;
      atMs: number;
      waits: string;
    }): Promise<void> {
      await redis.hset(faucetWalletKey, { ...seen, balanceWei: String(seen.balanceWei) });
    },
  };
}
