import { LRUCache } from "lru-cache";
import { keccak256 } from "./keccak256.ts";

/** About 4 MB; a page of a list has 40 addresses, and most come again. */
const addressesMax = 20_000;
const known = new LRUCache<string, string>({ max: addressesMax });
const encoder = new TextEncoder();

/**
 * An address of 0x and 40 digits with the checksum of EIP-55. It takes what a node or our own tables say, and looks at no
 * checksum: what a person types goes through `getAddress` of ethers, which takes ten times as long.
 */
export function checksumAddress(address: string): string {
  const before = known.get(address);
  if (before !== undefined) return before;
  const digits = address.slice(2).toLowerCase();
  const hash = keccak256(encoder.encode(digits));
  let text = "0x";
  for (let at = 0; at < digits.length; at += 1) {
    const digit = digits.charAt(at);
    const half = at % 2 === 0 ? (hash[at >> 1] ?? 0) >> 4 : (hash[at >> 1] ?? 0) & 15;
    text += half >= 8 ? digit.toUpperCase() : digit;
  }
  known.set(address, text);
  return text;
}
