import { randomInt } from "node:crypto";
import type { CallToForward } from "../methods/call.ts";

/** What makes two calls the same question, once their parameters are written in one way. */
export type CacheKey = Pick<CallToForward, "rule" | "paramsText">;

/** A longer question is not worth its place. */
export const paramsCharsMax = 4096;

// Unknown outside, so that nobody can send questions that are meant to fall on one number.
const seed = randomInt(2 ** 32);
// The text is written here and taken up four characters at a time: for 70 characters 80 ns, where asking the text for
// each of its characters takes 300 and joining it with the method's name to look it up in a map by text 190.
const memory = new ArrayBuffer(paramsCharsMax + 4);
const bytes = Buffer.from(memory);
const words = new Int32Array(memory);

/**
 * A number for a question of at most `paramsCharsMax` characters (MurmurHash3's rounds, without its end). Others may have the
 * same one: whatever is found by it is to be compared with `isSame`.
 */
export function hashCacheKey({ rule: { name }, paramsText }: CacheKey): number {
  const length = bytes.write(paramsText, 0, "latin1");
  bytes[length] = 0;
  bytes[length + 1] = 0;
  bytes[length + 2] = 0;
  // Methods that take the same parameters mostly differ in these; where they do not, `isSame` tells them apart.
  let hash = seed ^ length ^ (name.length << 8) ^ (name.charCodeAt(name.length - 1) << 16);
  const count = (length + 3) >> 2;
  for (let at = 0; at < count; at += 1) {
    let word = Math.imul(words[at] ?? 0, 0xcc9e2d51);
    word = (word << 15) | (word >>> 17);
    hash ^= Math.imul(word, 0x1b873593);
    hash = (hash << 13) | (hash >>> 19);
    hash = (Math.imul(hash, 5) + 0xe6546b64) | 0;
  }
  return hash ^ (hash >>> 16);
}

export function isSameKey(one: CacheKey, other: CacheKey): boolean {
  return one.rule === other.rule && one.paramsText === other.paramsText;
}
