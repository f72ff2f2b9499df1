import type { ReplyHeaders } from "./transport.ts";

/**
 * The limit behind a 429, from `RateLimit-Policy` (draft-ietf-httpapi-ratelimit-headers-10: `q` the quota, `w` the
 * window in seconds) and `Retry-After`.
 */
export function describeLimit(headers: ReplyHeaders): string {
  const policy = String(headers["ratelimit-policy"] ?? "");
  const quota = /;q=(\d+)/.exec(policy)?.[1];
  const windowSeconds = /;w=(\d+)/.exec(policy)?.[1];
  const retryAfter = headers["retry-after"];
  const limit =
    quota === undefined || windowSeconds === undefined
      ? "No RateLimit-Policy tells which limit."
      : `The key's limit is ${quota} points in ${windowSeconds} s (RateLimit-Policy: ${policy}).`;
  return retryAfter === undefined ? limit : `${limit} Retry-After: ${String(retryAfter)} s.`;
}
