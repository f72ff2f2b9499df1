import { hash, randomBytes } from "node:crypto";

const tokenBytes = 32;
const tokenPattern = /^wst_[A-Za-z0-9_-]{43}$/;

/**
 * What a session is proved with: `wst_` and 32 random bytes in base64url. The prefix tells it from an API key (`svc_`) for
 * people, for programs that look for secrets, and in what a refusal says.
 */
export function createSessionToken(): string {
  return `wst_${randomBytes(tokenBytes).toString("base64url")}`;
}

export function isSessionToken(text: string): boolean {
  return tokenPattern.test(text);
}

/** SHA-256: the only form in which a token is stored. A random token of 32 bytes needs no salt. */
export function hashSessionToken(token: string): Buffer {
  return Buffer.from(hash("sha256", token, "hex"), "hex");
}
