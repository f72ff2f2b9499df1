import { readFile } from "node:fs/promises";
import { keccak256, Wallet } from "ethers";
import { paymentData } from "./chain/payment-data.ts";

export type FaucetWallet = {
  /** EIP-55. */
  address: string;
  /** A payment's signed bytes and hash. The same arguments give the same bytes (RFC 6979). */
  sign(payment: {
    claimId: string;
    address: string;
    amountWei: bigint;
    nonce: number;
  }): Promise<{ raw: string; txHash: string }>;
  /** The bytes of a transaction to the wallet itself that pays nothing, for a nonce that has to be used up. */
  signNothing(at: { nonce: number }): Promise<string>;
  /** What one payment takes out of the wallet at most, beside its amount. */
  feeMaxWei: bigint;
};

export type WalletSource =
  | { kind: "development"; privateKey: string }
  | { kind: "keystore"; file: string; passwordFile: string; password: string };

export type Fees = { gasLimit: number; maxFeePerGasWei: bigint; maxPriorityFeePerGasWei: bigint };

/**
 * The wallet that pays: an encrypted keystore (Web3 Secret Storage) with its password from a file or the configuration,
 * or a development key. Throws an Error that names the file, never the password.
 */
export async function openWallet({
  source,
  chainId,
  fees: { gasLimit, maxFeePerGasWei, maxPriorityFeePerGasWei },
}: {
  source: WalletSource;
  chainId: number;
  fees: Fees;
}): Promise<FaucetWallet> {
  const wallet = source.kind === "development" ? new Wallet(source.privateKey) : await decrypt(source);
  const signTransaction = (nonce: number, { to, value, data }: { to: string; value: bigint; data: string }) =>
    wallet.signTransaction({
      type: 2,
      chainId,
      nonce,
      gasLimit,
      maxFeePerGas: maxFeePerGasWei,
      maxPriorityFeePerGas: maxPriorityFeePerGasWei,
      to,
      value,
      data,
    });
  return {
    address: wallet.address,
    feeMaxWei: BigInt(gasLimit) * maxFeePerGasWei,
    async sign({ claimId, address, amountWei, nonce }) {
      const raw = await signTransaction(nonce, {
        to: address,
        value: amountWei,
        data: paymentData(claimId),
      });
      return { raw, txHash: keccak256(raw) };
    },
    signNothing: ({ nonce }) => signTransaction(nonce, { to: wallet.address, value: 0n, data: "0x" }),
  };
}

async function decrypt({
  file,
  passwordFile,
  password,
}: Extract<WalletSource, { kind: "keystore" }>): Promise<{
  address: string;
  signTransaction: Wallet["signTransaction"];
}> {
  const keystore = await readText(file, "the keystore");
  // A file's last line usually ends with a newline that is not part of the password.
  const secret =
    passwordFile === ""
      ? password
      : (await readText(passwordFile, "the keystore's password")).replace(/\r?\n$/, "");
  try {
    return await Wallet.fromEncryptedJson(keystore, secret);
  } catch {
    // What ethers says may hold what it was given.
    throw new Error(`${file}: the keystore cannot be opened: it is damaged, or the password is another`);
  }
}

async function readText(file: string, what: string): Promise<string> {
  try {
    return await readFile(file, "utf8");
  } catch (cause) {
    const why = cause instanceof Error && "code" in cause ? String(cause.code) : "unreadable";
    throw new Error(`${file}: ${what} cannot be read (${why})`);
  }
}
