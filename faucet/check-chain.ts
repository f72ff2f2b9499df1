import type { Logger } from "pino";
import { checkChain, WrongChainError } from "../lib/chain/check-chain.ts";
import type { WalletChain } from "./chain/wallet-chain.ts";
import type { PaymentStore } from "./claims/payment-store.ts";

/**
 * Waits until the chain answers, and compares it and the wallet with those that Redis's claims and nonce belong to.
 * Answers the genesis hash. @throws WrongChainError
 */
export async function checkFaucetChain({
  chain,
  store,
  wallet,
  logger,
}: {
  chain: WalletChain;
  store: PaymentStore;
  wallet: string;
  logger: Logger;
}): Promise<string> {
  const genesisHash = await checkChain({
    readGenesisHash: async () => (await chain.snapshot()).genesisHash,
    knownHash: async () => (await store.chain())?.genesisHash,
    holds: "Redis holds claims",
    remedy:
      "Where this network takes its place: stop every replica and start one with --adopt-chain, which ends the open " +
      "claims and lets everybody claim anew.",
    logger,
  });
  const known = await store.chain();
  if (known === undefined || known.wallet === wallet) return genesisHash;
  throw new WrongChainError(
    `Redis holds the claims of another wallet (${known.wallet}; configured is ${wallet}). Let the faucet finish with ` +
      "the old one first; then start one replica with --adopt-chain, which ends the open claims and takes the new one.",
  );
}
