// The one module of the library that is needed: its main module loads a virtual machine too (200 ms, 20 MB).
import { instantiateSecp256k1 } from "@bitauth/libauth/build/lib/crypto/secp256k1.js";
import { keccak256 } from "./keccak256.ts";

const secp256k1 = await instantiateSecp256k1();

/**
 * Who signed: the address, in lower case, whose key signed the 32 bytes of `digest`. `signature` is r, s (32 bytes each)
 * and one byte v: 0 or 1, or 27 or 28. Undefined where that is not a signature. Both values of s that sign the same are valid here, as
 * in a block's seals; a transaction must have the lower one (`hasLowS`).
 *
 * libsecp256k1 in WebAssembly: about 0.2 ms, a tenth of what it takes in JavaScript (see DECISIONS.md, 2026-11-22).
 */
export function recoverAddress(digest: Uint8Array, signature: Uint8Array): string | undefined {
  if (digest.length !== 32 || signature.length !== 65) return undefined;
  const [v = 0] = signature.subarray(64);
  const parity = v >= 27 ? v - 27 : v;
  if (parity !== 0 && parity !== 1) return undefined;
  const publicKey = secp256k1.recoverPublicKeyUncompressed(signature.subarray(0, 64), parity, digest);
  if (typeof publicKey === "string") return undefined;
  return `0x${Buffer.from(keccak256(publicKey.subarray(1)).subarray(12)).toString("hex")}`;
}

const halfOrder = Buffer.from("7fffffffffffffffffffffffffffffff5d576e7357a4501ddfe92f46681b20a0", "hex");

/** Of two values of s that sign the same, a transaction has the lower, at most half the curve's order (EIP-2). */
export function hasLowS(signature: Uint8Array): boolean {
  return Buffer.compare(signature.subarray(32, 64), halfOrder) <= 0;
}
