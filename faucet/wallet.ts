import { createHmac } from "node:crypto";
import { getBytes, keccak256, Wallet } from "ethers";
import { type KeystoreFile, openKeystore } from "../lib/chain/open-keystore.ts";
import { paymentData } from "./chain/payment-data.ts";

export type FaucetWallet = {
  /** EIP-55. */
  address: string;
  /** A payment's signed bytes and hash. The same arguments and fees give the same bytes (RFC 6979). */
  sign(payment: {
    claimId: string;
    address: string;
    amountWei: bigint;
    nonce: number;
  }): Promise<{ raw: string; txHash: string }>;
  /**
   * The bytes of a transaction to the wallet itself that pays nothing, for a nonce that has to be used up. It outbids a
   * payment that a pool may hold at that nonce, and twice this base fee.
   */
  signNothing(at: { nonce: number; baseFeeWei: bigint }): Promise<string>;
  /** 32 bytes for this purpose, the same on each replica and after any loss. They reveal nothing of the key. */
  secretFor(purpose: string): Buffer;
  /** The most that a payment pays for gas. */
  maxFeePerGasWei: bigint;
  /** The most that one payment takes out of the wallet beside its amount. */
  feeMaxWei: bigint;
};

export type WalletSource =
  | { kind: "development"; privateKey: string }
  | ({ kind: "keystore" } & KeystoreFile);

export type Fees = { gasLimit: number; maxFeePerGasWei: bigint; maxPriorityFeePerGasWei: bigint };

/**
 * The wallet that pays: an encrypted keystore (Web3 Secret Storage) with its password from a file or the configuration,
 * or a development key. Throws an Error that names the file, never the password.
 */
export async function openWallet({
  source,
  chainId,
  fees,
}: {
  source: WalletSource;
  chainId: number;
  /** Read for each signature. */
  fees: Readonly<Fees>;
}): Promise<FaucetWallet> {
  const { privateKey } = source.kind === "development" ? source : await openKeystore(source);
  const wallet = new Wallet(privateKey);
  const common = { type: 2, chainId };
  return {
    address: wallet.address,
    get maxFeePerGasWei() {
      return fees.maxFeePerGasWei;
    },
    get feeMaxWei() {
      return BigInt(fees.gasLimit) * fees.maxFeePerGasWei;
    },
    secretFor: (purpose) => createHmac("sha256", getBytes(wallet.privateKey)).update(purpose).digest(),
    async sign({ claimId, address, amountWei, nonce }) {
      const raw = await wallet.signTransaction({
        ...common,
        nonce,
        gasLimit: fees.gasLimit,
        maxFeePerGas: fees.maxFeePerGasWei,
        maxPriorityFeePerGas: fees.maxPriorityFeePerGasWei,
        to: address,
        value: amountWei,
        data: paymentData(claimId),
      });
      return { raw, txHash: keccak256(raw) };
    },
    signNothing({ nonce, baseFeeWei }) {
      // Pools replace a transaction if both fees are a tenth higher; twice is safe. Fees of zero need a value to double.
      const maxPriorityFeePerGas = 2n * larger(fees.maxPriorityFeePerGasWei, gweiInWei);
      return wallet.signTransaction({
        ...common,
        nonce,
        gasLimit: transferGas,
        maxFeePerGas: 2n * larger(fees.maxFeePerGasWei, baseFeeWei) + maxPriorityFeePerGas,
        maxPriorityFeePerGas,
        to: wallet.address,
        value: 0n,
        data: "0x",
      });
    },
  };
}

/** What a transfer to an account costs (yellow paper, Gtransaction). */
const transferGas = 21_000;
const gweiInWei = 1_000_000_000n;

function larger(one: bigint, other: bigint): bigint {
  return one > other ? one : other;
}
