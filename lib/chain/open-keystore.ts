import { readFile } from "node:fs/promises";
import { Wallet } from "ethers/wallet";

export type KeystoreFile = {
  file: string;
  /** Empty: `password` is it. */
  passwordFile: string;
  password: string;
};

/**
 * Opens an encrypted key (Web3 Secret Storage).
 * @throws Error that names the file, never the password.
 */
export async function openKeystore({
  file,
  passwordFile,
  password,
}: KeystoreFile): Promise<{ address: string; privateKey: string }> {
  const keystore = await readText(file, "the keystore");
  // A file's last line usually ends with a newline that is not part of the password.
  const secret =
    passwordFile === ""
      ? password
      : (await readText(passwordFile, "the keystore's password")).replace(/\r?\n$/, "");
  try {
    const { address, privateKey } = await Wallet.fromEncryptedJson(keystore, secret);
    return { address, privateKey };
  } catch {
    // A message of ethers may contain its input.
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
