import { hash, randomBytes as nodeRandomBytes } from "node:crypto";
import { crc32 } from "node:zlib";
import { base62, base62Digit } from "./base62.ts";

export type Profile = "development" | "production";

/** What a text is, judged by its form alone: see `checkApiKey`. */
export type ApiKeyForm = "valid" | "mistyped" | "foreign";

const profileTags: Readonly<Record<Profile, string>> = { development: "dev", production: "live" };
const secretBytes = 32;
/** 62^43 is the first power of 62 above 2^256, so every secret has the same length. */
const secretChars = 43;
/** 62^6 is above 2^32: six characters hold a CRC-32. */
const checksumChars = 6;
const bodyPattern = /^(?:dev|live)_[0-9A-Za-z]{49}$/;

/**
 * Makes a secret: `<prefix>_<dev|live>_` + 32 random bytes as 43 base62 characters + 6 of checksum, for example
 * `tg_live_` followed by 49 characters. `prefix` is `tg` for keys of the gateway and `svc` for those of the api.
 *
 * The checksum is a CRC-32 of everything before it. It finds typing errors. Only Redis knows whether the key exists.
 * CRC-32 finds every error within four neighbouring characters, two swapped ones included, where a truncated hash would
 * only be likely to.
 */
export function createApiKey({
  profile,
  prefix = "tg",
  randomBytes = nodeRandomBytes,
}: {
  profile: Profile;
  prefix?: string;
  randomBytes?: (size: number) => Uint8Array;
}): string {
  const secret = base62(BigInt(`0x${Buffer.from(randomBytes(secretBytes)).toString("hex")}`), secretChars);
  const text = `${prefix}_${profileTags[profile]}_${secret}`;
  return text + checksum(text);
}

/**
 * `valid`: of our form, with a matching checksum (which does not say that the key exists). `mistyped`: begins like
 * one of ours but cannot be one, so there is no need to ask Redis. `foreign`: anything else, for instance a word that
 * a development configuration uses as a key.
 */
export function checkApiKey(text: string, prefix = "tg"): ApiKeyForm {
  const start = prefix.length + 1;
  if (!text.startsWith(`${prefix}_`)) return "foreign";
  if (!text.startsWith("dev_", start) && !text.startsWith("live_", start)) return "foreign";
  if (!bodyPattern.test(text.slice(start))) return "mistyped";
  const end = text.length - checksumChars;
  return text.slice(end) === checksum(text.slice(0, end)) ? "valid" : "mistyped";
}

/** SHA-256 of a key's text as 64 lower-case hex digits: the only form in which a key is stored or looked up. */
export function hashApiKey(text: string): string {
  return hash("sha256", text, "hex");
}

/**
 * A key's public name for logs, metrics and the command line: `k_` and 12 random base62 characters. It is drawn
 * separately, so it says nothing about the secret.
 */
export function createKeyId({
  randomBytes = nodeRandomBytes,
}: {
  randomBytes?: (size: number) => Uint8Array;
} = {}) {
  // 32 bytes reduced modulo 62^12 (71 bits) leave no bias that could be measured.
  const value = BigInt(`0x${Buffer.from(randomBytes(32)).toString("hex")}`) % 62n ** 12n;
  return `k_${base62(value, 12)}`;
}

/** Uses numbers, because a gateway checks many keys: with the bigints of `base62` a check takes twice as long. */
function checksum(text: string): string {
  let rest = crc32(text);
  let digits = "";
  for (let index = 0; index < checksumChars; index += 1) {
    digits = base62Digit(rest % 62) + digits;
    rest = Math.floor(rest / 62);
  }
  return digits;
}
