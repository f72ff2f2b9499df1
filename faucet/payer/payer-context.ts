import type { Logger } from "pino";
import type { WalletChain, WalletSnapshot } from "../chain/wallet-chain.ts";
import type { ClaimLimits } from "../claims/admission.ts";
import type { PaymentStore } from "../claims/payment-store.ts";
import type { FaucetConfig } from "../config.ts";
import type { FaucetMetrics } from "../metrics.ts";
import type { FaucetWallet } from "../wallet.ts";

/** Where a payment can be cut short; the crash tests end the process there. */
export type PayPoint =
  | "before sign"
  | "after sign"
  | "before send"
  | "after send"
  | "after mark"
  | "before end"
  | "after end"
  | "before restore"
  | "before first nonce";

/** Read for each step: a reload changes them in place. */
export type PayerSettings = Readonly<
  Pick<FaucetConfig, "inFlightMax" | "giveUpAfterMs" | "pollMs" | "idlePollMs" | "resendAfterMs">
> & { readonly limits: Readonly<Pick<ClaimLimits, "perAddress" | "windowMs">> };

export type PayerContext = {
  settings: PayerSettings;
  store: PaymentStore;
  chain: WalletChain;
  wallet: FaucetWallet;
  /** The network that nonce and claims belong to. */
  genesisHash: string;
  metrics: FaucetMetrics;
  logger: Logger;
  now: () => number;
  atPoint: (point: PayPoint) => void | Promise<void>;
};

/** Said to operators, and to everybody in `GET /status`. */
export const baseFeeTooHigh =
  "the network's base fee is above what the faucet pays (fees.maxFeePerGasGwei): payments wait until it falls";

/** One look at Redis and the chain, by the replica that holds this fencing number. */
export type Round = PayerContext & { fence: string; snapshot: WalletSnapshot };
