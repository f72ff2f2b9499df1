import { randomInt } from "node:crypto";
import { sessionNonceKey } from "../../../lib/redis/keys/api.ts";
import type { RedisClient } from "../../../lib/redis/redis-client.ts";

const alphabet = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
/** 142 bits. */
const nonceChars = 24;
const noncePattern = /^[0-9A-Za-z]{24}$/;

export type Nonces = ReturnType<typeof createNonces>;

/** Texts that a wallet signs once. Any process takes what another has given out. Rejects where Redis is away. */
export function createNonces({
  redis,
  settings,
  now,
}: {
  redis: RedisClient;
  /** Read for each nonce, when it is given out and when it is taken. */
  settings: { readonly nonceSeconds: number };
  now: () => number;
}) {
  return {
    async give(): Promise<{ nonce: string; issuedAtMs: number; expiresAtMs: number }> {
      const chars = Array.from({ length: nonceChars }, () => alphabet.charAt(randomInt(alphabet.length)));
      const nonce = chars.join("");
      const issuedAtMs = now();
      const { nonceSeconds } = settings;
      await redis.set(sessionNonceKey(nonce), String(issuedAtMs), "EX", nonceSeconds);
      return { nonce, issuedAtMs, expiresAtMs: issuedAtMs + nonceSeconds * 1000 };
    },

    /** Whether it was given out, not too long ago, and nobody has used it: from now on it is used. */
    async take(nonce: string): Promise<boolean> {
      if (!noncePattern.test(nonce)) return false;
      const issuedAtMs = await redis.getdel(sessionNonceKey(nonce));
      return issuedAtMs !== null && now() <= Number(issuedAtMs) + settings.nonceSeconds * 1000;
    },
  };
}
