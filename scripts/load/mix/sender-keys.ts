import { randomBytes } from "node:crypto";
import { HDNodeWallet, id, Mnemonic, SigningKey } from "ethers";
import type { SenderSettings } from "./mix-schema.ts";

/**
 * The private keys of a mix's own accounts: given ones, those of a mnemonic (BIP-44, m/44'/60'/0'/0/i), those that follow
 * from a seed, or new ones. @throws Error if the mnemonic is not valid.
 */
export function createSenderKeys({ count, seed, mnemonic, privateKeys }: SenderSettings): SigningKey[] {
  if (privateKeys !== undefined) return privateKeys.map((key) => new SigningKey(key));
  const indexes = Array.from({ length: count }, (_, index) => index);
  if (mnemonic !== undefined) {
    const parent = HDNodeWallet.fromMnemonic(Mnemonic.fromPhrase(mnemonic), "m/44'/60'/0'/0");
    return indexes.map((index) => parent.deriveChild(index).signingKey);
  }
  const base = seed ?? randomBytes(32).toString("hex");
  return indexes.map((index) => new SigningKey(id(`${base}:${index}`)));
}
