import {
  createPrivateKey,
  createPublicKey,
  diffieHellman,
  generateKeyPairSync,
  type KeyObject,
} from "node:crypto";
import { decodeBech32, encodeBech32 } from "./bech32.ts";

/** Who can read: an X25519 public key. */
export type Recipient = { key: KeyObject; bytes: Buffer };
/** Who reads: the private key of a recipient. */
export type Identity = Recipient & { privateKey: KeyObject };

const recipientPrefix = "age";
const identityPrefix = "age-secret-key-";
const keyBytes = 32;
/** PKCS #8 before the 32 bytes of an X25519 key: https://www.rfc-editor.org/rfc/rfc8410#section-7 */
const pkcs8Head = Buffer.from("302e020100300506032b656e04220420", "hex");

/** A new pair, as `age-keygen` writes one: `AGE-SECRET-KEY-1…` and `age1…`. */
export function generateAgeKeys(): { identity: string; recipient: string } {
  const { privateKey, publicKey } = generateKeyPairSync("x25519");
  const secret = privateKey.export({ type: "pkcs8", format: "der" }).subarray(pkcs8Head.length);
  return {
    identity: encodeBech32(identityPrefix, secret).toUpperCase(),
    recipient: encodeBech32(recipientPrefix, rawOf(publicKey)),
  };
}

/** One `age1…`; undefined where it is none. */
export function parseRecipient(text: string): Recipient | undefined {
  const bytes = decodeBech32(recipientPrefix, text);
  return bytes?.length === keyBytes ? recipientOf(Buffer.from(bytes)) : undefined;
}

/** One `AGE-SECRET-KEY-1…`; undefined where it is none. */
export function parseIdentity(text: string): Identity | undefined {
  const bytes = decodeBech32(identityPrefix, text);
  if (bytes?.length !== keyBytes) return undefined;
  const privateKey = createPrivateKey({
    key: Buffer.concat([pkcs8Head, bytes]),
    format: "der",
    type: "pkcs8",
  });
  const key = createPublicKey(privateKey);
  return { privateKey, key, bytes: rawOf(key) };
}

export function recipientOf(bytes: Buffer): Recipient {
  const key = createPublicKey({
    key: { kty: "OKP", crv: "X25519", x: bytes.toString("base64url") },
    format: "jwk",
  });
  return { key, bytes };
}

/** What both sides agree on. @throws Error for a public key of low order, as RFC 7748 asks. */
export function sharedSecret(privateKey: KeyObject, publicKey: KeyObject): Buffer {
  return diffieHellman({ privateKey, publicKey });
}

export function rawOf(publicKey: KeyObject): Buffer {
  return Buffer.from(publicKey.export({ format: "jwk" }).x ?? "", "base64url");
}
