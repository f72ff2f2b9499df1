import { setTimeout as sleep } from "node:timers/promises";
import type { Logger } from "pino";
import { ChainUnavailableError } from "./chain/rpc-client.ts";
import type { WalletChain } from "./chain/wallet-chain.ts";
import type { PaymentStore } from "./claims/payment-store.ts";

const retryMs = 500;

/** Redis belongs to another network or wallet; what to do about it is in the message. */
export class WrongChainError extends Error {
  override readonly name = "WrongChainError";
}

/**
 * Waits until the chain answers, and compares it with the one that Redis's claims and nonce belong to. Answers the
 * genesis hash. @throws WrongChainError
 */
export async function checkChain({
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
  const { genesisHash } = await firstSnapshot({ chain, logger });
  const known = await store.chain();
  if (known === undefined) return genesisHash;
  if (known.genesisHash !== genesisHash) {
    throw new WrongChainError(
      `Redis holds claims of another network (genesis ${known.genesisHash}; the node's is ${genesisHash}). ` +
        "Where this network takes its place: stop every replica and start one with --adopt-chain, which ends the open " +
        "claims and lets everybody claim anew.",
    );
  }
  if (known.wallet !== wallet) {
    throw new WrongChainError(
      `Redis holds the claims of another wallet (${known.wallet}; configured is ${wallet}). Let the faucet finish with ` +
        "the old one first; then start one replica with --adopt-chain, which ends the open claims and takes the new one.",
    );
  }
  return genesisHash;
}

async function firstSnapshot({ chain, logger }: { chain: WalletChain; logger: Logger }) {
  for (let tries = 0; ; tries += 1) {
    try {
      return await chain.snapshot();
    } catch (error) {
      if (!(error instanceof ChainUnavailableError)) throw error;
      if (tries % 20 === 0) logger.warn({ err: error }, "waiting for the chain");
      await sleep(retryMs);
    }
  }
}
