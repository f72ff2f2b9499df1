import {
  faucetChainKey,
  faucetClaimKey,
  faucetLimitKey,
  faucetNonceKey,
  faucetOpenKey,
  faucetPaidKey,
  faucetPausedKey,
  faucetQueueKey,
} from "../../lib/redis/keys/faucet.ts";
import type { RedisClient } from "../../lib/redis/redis-client.ts";
import { type Claim, isSigned, parseClaim, type SignedClaim } from "./claim.ts";

/** What the replica that pays reads of Redis. */
export function createPaymentReader({ redis }: { redis: RedisClient }) {
  async function read(ids: readonly string[]): Promise<Claim[]> {
    const records = await Promise.all(ids.map((id) => redis.hgetall(faucetClaimKey(id))));
    return records.flatMap((fields) => parseClaim(fields) ?? []);
  }

  return {
    /** The claims that wait longest, at most so many. */
    waiting: async (most: number) =>
      most === 0 ? [] : read(await redis.lrange(faucetQueueKey, 0, most - 1)),

    /** All of them: as many as `queueMax`. */
    allWaiting: async () => read(await redis.lrange(faucetQueueKey, 0, -1)),

    /** Claims of an address that count in its limit. */
    countOf: (address: string) => redis.zcard(faucetLimitKey(`address:${address.toLowerCase()}`)),

    /** Claims that are signed and not ended, in the order of their nonces. */
    open: async (): Promise<SignedClaim[]> =>
      (await read(await redis.zrange(faucetOpenKey, "0", "-1"))).filter(isSigned),

    /** The ended payments that are remembered, from this nonce on. */
    paidFrom: async (nonce: number): Promise<SignedClaim[]> =>
      (await read(await redis.zrange(faucetPaidKey, String(nonce), "+inf", "BYSCORE"))).filter(isSigned),

    /** The ended payment of the highest nonce. */
    lastPaid: async (): Promise<SignedClaim | undefined> =>
      (await read(await redis.zrange(faucetPaidKey, "-1", "-1"))).find(isSigned),

    async isPaused(): Promise<boolean> {
      return (await redis.exists(faucetPausedKey)) === 1;
    },

    /** The nonce of the next signature; undefined until the backfill from the chain is done. */
    async nonce(): Promise<number | undefined> {
      const text = await redis.get(faucetNonceKey);
      return text === null ? undefined : Number(text);
    },

    /** The chain and wallet that nonce and claims belong to; `undefined` in an empty Redis. */
    async chain(): Promise<{ genesisHash: string; wallet: string } | undefined> {
      const { genesisHash, wallet } = await redis.hgetall(faucetChainKey);
      return genesisHash === undefined || wallet === undefined ? undefined : { genesisHash, wallet };
    },
  };
}
