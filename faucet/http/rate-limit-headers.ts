import type { ClaimScope, Standing, Standings } from "../claims/admission.ts";

/**
 * The two limits of a claim as structured fields (draft-ietf-httpapi-ratelimit-headers-10): `q` the quota, `w` its window
 * in seconds, `r` what remains, `t` the seconds until one more is possible. Seconds are rounded up.
 */
export function rateLimitHeaders({
  standings,
  scope,
  windowMs,
}: {
  standings: Standings;
  scope: ClaimScope["kind"];
  windowMs: number;
}): { "RateLimit-Policy": string; RateLimit: string } {
  const named: [string, Standing][] = [
    ["address", standings.address],
    [scope, standings.scope],
  ];
  return {
    "RateLimit-Policy": named
      .map(([name, { limit }]) => `"${name}";q=${limit};w=${seconds(windowMs)}`)
      .join(", "),
    RateLimit: named
      .map(([name, { limit, used, resetMs }]) => {
        return `"${name}";r=${Math.max(0, limit - used)};t=${seconds(resetMs)}`;
      })
      .join(", "),
  };
}

export function seconds(lengthMs: number): number {
  return Math.ceil(lengthMs / 1000);
}
