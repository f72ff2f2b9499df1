import { setTimeout as sleep } from "node:timers/promises";
import { LRUCache } from "lru-cache";
import { ChainUnavailableError } from "../../lib/chain/rpc-client.ts";
import type { Claim } from "../claims/claim.ts";
import type { WalletChain } from "./wallet-chain.ts";

/** What the address of a confirmed claim held after it; undefined where the chain does not say so at once. */
export type BalanceAfter = (claim: Claim) => Promise<bigint | undefined>;

const rememberedMax = 1000;
/** A page does not wait longer. The answer that comes later is for the next one. */
const waitMs = 500;
/** A node that does not answer, or has forgotten the block, is asked no more for so long. */
const askAgainAfterMs = 10_000;

/** Each claim is asked for once, however many look at it: what an address held after a block does not change. */
export function createBalanceAfter({ chain }: { chain: Pick<WalletChain, "balanceAt"> }): BalanceAfter {
  const known = new LRUCache<string, bigint>({ max: rememberedMax });
  const asked = new LRUCache<string, Promise<bigint | undefined>>({
    max: rememberedMax,
    ttl: askAgainAfterMs,
  });

  async function ask(key: string, { address, height }: { address: string; height: number }) {
    try {
      const balanceWei = await chain.balanceAt(address, height);
      known.set(key, balanceWei);
      return balanceWei;
    } catch (error) {
      if (error instanceof ChainUnavailableError) return undefined;
      throw error;
    }
  }

  return async ({ id, status, address, blockNumber }) => {
    if (status !== "confirmed" || blockNumber === undefined) return undefined;
    // A dev chain that went back may have it in another block.
    const key = `${id} ${blockNumber}`;
    const found = known.get(key);
    if (found !== undefined) return found;
    const answer = asked.get(key) ?? ask(key, { address, height: blockNumber });
    asked.set(key, answer, { noUpdateTTL: true });
    return Promise.race([answer, sleep(waitMs, undefined, { ref: false })]);
  };
}
