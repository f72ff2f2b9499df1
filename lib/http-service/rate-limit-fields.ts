/** A limit that a request counts in: what of it is used, and the time until more is possible. */
export type RateLimit = { name: string; limit: number; used: number; windowMs: number; resetMs: number };

/**
 * Limits as structured fields (draft-ietf-httpapi-ratelimit-headers-10): `q` the quota, `w` its window in seconds, `r`
 * what remains, `t` the seconds until more is possible. Seconds are rounded up.
 */
export function rateLimitFields(limits: readonly RateLimit[]): {
  "RateLimit-Policy": string;
  RateLimit: string;
} {
  return {
    "RateLimit-Policy": limits
      .map(({ name, limit, windowMs }) => `"${name}";q=${limit};w=${seconds(windowMs)}`)
      .join(", "),
    RateLimit: limits
      .map(
        ({ name, limit, used, resetMs }) => `"${name}";r=${Math.max(0, limit - used)};t=${seconds(resetMs)}`,
      )
      .join(", "),
  };
}

/** A length of time as `Retry-After` has it: a client that waits as long as it is told waits long enough. */
export function seconds(lengthMs: number): number {
  return Math.ceil(lengthMs / 1000);
}
