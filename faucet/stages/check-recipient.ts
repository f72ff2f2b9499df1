import { LRUCache } from "lru-cache";
import { ChainUnavailableError } from "../../lib/chain/rpc-client.ts";
import { type Refusal, refusal } from "../../lib/http-service/refusal.ts";
import type { WalletChain } from "../chain/wallet-chain.ts";

export type CheckRecipient = (address: string) => Promise<{ checked: boolean } | Refusal>;

const rememberedMax = 10_000;
const rememberedMs = 60_000;

/**
 * Refuses contracts: a contract could revert the payment. While the chain does not answer, claims are taken all the same, and
 * the payer looks before it signs (`checked: false`).
 *
 * An address without code is remembered for a minute, so that claims beyond a limit do not each cost a question.
 */
export function createCheckRecipient({ chain }: { chain: Pick<WalletChain, "contracts"> }): CheckRecipient {
  const withoutCode = new LRUCache<string, true>({ max: rememberedMax, ttl: rememberedMs });

  return async (address) => {
    if (withoutCode.has(address)) return { checked: true };
    try {
      if ((await chain.contracts([address])).has(address)) return contractRefused;
      withoutCode.set(address, true);
      return { checked: true };
    } catch (error) {
      if (error instanceof ChainUnavailableError) return { checked: false };
      throw error;
    }
  };
}

const why = "the address is a contract; the faucet pays accounts with a key of their own";
const contractRefused = refusal("invalid_params", `The claim cannot be paid: ${why}`, {
  errors: [{ pointer: "/address", message: why }],
  reason: "address_contract",
});
