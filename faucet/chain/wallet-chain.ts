import { z } from "zod";
import { readAnswer } from "../../lib/chain/read-answer.ts";
import type { RpcClient } from "../../lib/chain/rpc-client.ts";
import { bytes, hash, hexQuantity, quantity, wei } from "../../lib/chain/rpc-values.ts";
import { createMinedSearch } from "./mined-search.ts";

/** The wallet as it is after one block. */
export type WalletSnapshot = {
  genesisHash: string;
  height: number;
  balanceWei: bigint;
  /** Transactions of the wallet that are mined: the next nonce. */
  nonce: number;
  /** 0 on a chain without base fees. */
  baseFeeWei: bigint;
};

export type Receipt = { blockNumber: number; succeeded: boolean };

/**
 * `accepted`: the node has it. `nonce used`: a transaction of this nonce is mined, ours or another. `refused`: the node
 * does not want this transaction, and says why; it was never in its pool. `unclear`: anything else, which says nothing
 * about the transaction and proves nothing: it may have reached a pool.
 */
export type SendOutcome =
  | { outcome: "accepted" | "nonce used" }
  | { outcome: "refused" | "unclear"; why: string };

export type WalletChain = ReturnType<typeof createWalletChain>;

/**
 * What the faucet asks of the chain about its wallet. Questions about state name the block, so that a node that is
 * behind says that it does not have it instead of telling of another time. Throws ChainUnavailableError where the node
 * does not answer or is behind.
 */
export function createWalletChain({ rpc, wallet }: { rpc: RpcClient; wallet: string }) {
  const search = createMinedSearch({ rpc, wallet });

  return {
    async snapshot(): Promise<WalletSnapshot> {
      const [latest, genesis] = await rpc.askAll([
        { method: "eth_getBlockByNumber", params: ["latest", false] },
        { method: "eth_getBlockByNumber", params: ["0x0", false] },
      ]);
      const { number: height, baseFeePerGas: baseFeeWei = 0n } = readAnswer(latest, headerSchema);
      const at = hexQuantity(height);
      const [balance, nonce] = await rpc.askAll([
        { method: "eth_getBalance", params: [wallet, at] },
        { method: "eth_getTransactionCount", params: [wallet, at] },
      ]);
      return {
        genesisHash: readAnswer(genesis, headerSchema).hash,
        height,
        balanceWei: readAnswer(balance, wei),
        nonce: readAnswer(nonce, quantity),
        baseFeeWei,
      };
    },

    /** The next nonce with what waits in the node's pool. */
    async pendingNonce(): Promise<number> {
      return readAnswer(await rpc.ask("eth_getTransactionCount", [wallet, "pending"]), quantity);
    },

    /** The receipts that the node has, by transaction hash. One that is missing proves nothing. */
    async receipts(hashes: readonly string[]): Promise<Map<string, Receipt>> {
      const answers = await rpc.askAll(
        hashes.map((txHash) => ({ method: "eth_getTransactionReceipt", params: [txHash] })),
      );
      const found = new Map<string, Receipt>();
      for (const [index, txHash] of hashes.entries()) {
        const receipt = readAnswer(answers[index], receiptSchema.nullable());
        if (receipt?.transactionHash === txHash) {
          found.set(txHash, { blockNumber: receipt.blockNumber, succeeded: receipt.status === 1 });
        }
      }
      return found;
    },

    /** Which of these addresses hold code. */
    async contracts(addresses: readonly string[]): Promise<Set<string>> {
      const answers = await rpc.askAll(
        addresses.map((address) => ({ method: "eth_getCode", params: [address, "latest"] })),
      );
      return new Set(addresses.filter((_, index) => readAnswer(answers[index], bytes) !== "0x"));
    },

    /** What an address holds after this block. Nodes know that of recent blocks only. */
    async balanceAt(address: string, height: number): Promise<bigint> {
      return readAnswer(await rpc.ask("eth_getBalance", [address, hexQuantity(height)]), wei);
    },

    async send(raw: string): Promise<SendOutcome> {
      const answer = await rpc.ask("eth_sendRawTransaction", [raw]);
      if ("result" in answer) return { outcome: "accepted" };
      const { message, ofGateway } = answer.error;
      if (ofGateway) return { outcome: "unclear", why: message };
      // Besu says "Known transaction", geth and anvil "already known" or "transaction already imported".
      if (/known transaction|already known|already imported/i.test(message)) return { outcome: "accepted" };
      if (/nonce too low/i.test(message)) return { outcome: "nonce used" };
      return { outcome: isAboutTransaction(answer.error) ? "refused" : "unclear", why: message };
    },

    /** The wallet's transaction of this nonce, where a block up to `height` has it and the node can tell. */
    minedAt: search.minedAt,
  };
}

const headerSchema = z.object({ number: quantity, hash, baseFeePerGas: wei.optional() });
const receiptSchema = z.object({ transactionHash: hash, blockNumber: quantity, status: quantity });

/** Messages of Besu (`RpcErrorType`), geth and anvil that refuse a transaction itself. */
const aboutTransaction = new RegExp(
  [
    "underpriced|insufficient (?:funds|balance)|upfront cost|intrinsic gas|gas limit|gas too low|nonce",
    "(?:gas|blob) price|base ?fee|fee (?:cap|per gas)|max (?:fee|priority)|fee exceeds|tip (?:above|too)",
    "signature|invalid sender|chain ?id|sender account not|not authori[sz]ed|not permitted|too large|oversized",
    "transaction type|invalid transaction|transaction rejected|transaction not|not a valid transaction",
  ].join("|"),
  "i",
);

/**
 * A positive list: a timeout, a full pool, a node that syncs, "Internal error" (-32603) and any unknown error say nothing
 * about the transaction. The range is that of implementations (JSON-RPC 2.0 section 5.1).
 */
function isAboutTransaction({ code, message }: { code: number; message: string }): boolean {
  return code >= -32_099 && code <= -32_000 && aboutTransaction.test(message);
}
