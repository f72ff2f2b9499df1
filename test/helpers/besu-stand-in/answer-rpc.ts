import { toQuantity } from "ethers";
import type { Block, Chain } from "./chain.ts";

export type RpcAnswer = { result: unknown } | { error: { code: number; message: string } };

/** What the stand-in answers, as recordings of Besu 26.8.0 have it; all else is "Method not found". */
export function createRpc({
  chain,
  chainId,
  validators,
  peerCount,
}: {
  chain: Chain;
  chainId: number;
  validators: readonly string[];
  peerCount: () => number;
}): (method: string, params: readonly unknown[]) => RpcAnswer {
  const blockAt = (tag: unknown): RpcAnswer => {
    if (tag === "finalized" || tag === "safe") return { error: { code: -39001, message: "Unknown block" } };
    const number =
      tag === "latest" || tag === "pending" ? chain.height() : tag === "earliest" ? 0 : Number(tag);
    if (typeof tag !== "string" || !Number.isInteger(number)) {
      return { error: { code: -32602, message: "Invalid block number params" } };
    }
    return { result: chain.block(number) ?? null };
  };
  const methods: Readonly<Record<string, (params: readonly unknown[]) => RpcAnswer>> = {
    web3_clientVersion: () => ({ result: "besu/v26.8.0/stand-in" }),
    eth_chainId: () => ({ result: toQuantity(chainId) }),
    net_version: () => ({ result: String(chainId) }),
    net_listening: () => ({ result: true }),
    net_peerCount: () => ({ result: toQuantity(peerCount()) }),
    eth_syncing: () => ({ result: false }),
    eth_gasPrice: () => ({ result: "0x0" }),
    eth_blockNumber: () => ({ result: toQuantity(chain.height()) }),
    eth_getBlockByNumber: ([tag]) => blockAt(tag),
    eth_getBlockByHash: ([hash]) => ({ result: chain.byHash(String(hash)) ?? null }),
    eth_getLogs: () => ({ result: [] }),
    // There are no transactions.
    eth_getBalance: () => ({ result: "0x0" }),
    eth_getTransactionCount: () => ({ result: "0x0" }),
    ibft_getValidatorsByBlockNumber: () => ({ result: validators }),
  };
  return (method, params) =>
    methods[method]?.(params) ?? { error: { code: -32601, message: "Method not found" } };
}

/** What `newHeads` brings of a block. */
export function subscriptionText(subscription: string, block: Block): string {
  return JSON.stringify({
    jsonrpc: "2.0",
    method: "eth_subscription",
    params: { subscription, result: block },
  });
}
