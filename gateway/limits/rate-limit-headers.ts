import type { ChargeResult } from "./budget.ts";

export type RateLimitHeaders = {
  /** Value of `RateLimit-Policy`. */
  policy: string;
  /** Value of `RateLimit`. */
  limit: string;
  /** Value of `Retry-After`, for an answer with status 429; `undefined` where every call was admitted. */
  retryAfter: string | undefined;
};

/**
 * The headers of an answer to a valid key: structured fields (RFC 9651) of draft-ietf-httpapi-ratelimit-headers-10. Both
 * are lists of one string item; `q` is the quota, `w` the window in seconds, `r` what remains, `t` the seconds until
 * the window ends. The optional partition key (`pk`) is left out: it would repeat the client's own key.
 *
 * Seconds are rounded up, so that a client that waits this long finds a new window.
 */
export function rateLimitHeaders(
  result: Pick<ChargeResult, "limit" | "remaining" | "resetMs" | "windowSeconds" | "retryAfterMs">,
): RateLimitHeaders {
  const { limit, remaining, resetMs, windowSeconds, retryAfterMs } = result;
  return {
    policy: `"default";q=${limit};w=${windowSeconds}`,
    limit: `"default";r=${remaining};t=${Math.ceil(resetMs / 1000)}`,
    retryAfter: retryAfterMs > 0 ? String(Math.ceil(retryAfterMs / 1000)) : undefined,
  };
}
