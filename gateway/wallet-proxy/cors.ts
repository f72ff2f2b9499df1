import type { IncomingHttpHeaders } from "node:http";

/** The headers of an answer that let the page of an admitted origin read it; none where no origin asks. */
export function corsHeaders({ origin }: IncomingHttpHeaders): Record<string, string> {
  if (origin === undefined) return {};
  return {
    "Access-Control-Allow-Origin": origin,
    "Access-Control-Expose-Headers":
      "RateLimit, RateLimit-Policy, Retry-After, X-Tollgate-Cache, X-Tollgate-Validator, Server-Timing",
    Vary: "Origin",
  };
}

/** The answer to a preflight, which a browser sends before another origin's request (Fetch standard, section 3.2). */
export function preflightHeaders(headers: IncomingHttpHeaders, methods: string): Record<string, string> {
  return {
    "Access-Control-Allow-Methods": methods,
    // The same as the gateway's, so that a dapp for the gateway runs unchanged here. Its own X-API-Key is dropped.
    "Access-Control-Allow-Headers": "Content-Type, X-API-Key, Cache-Control, *",
    "Access-Control-Max-Age": "7200",
    // Private Network Access: a page from the internet that asks for an address on loopback.
    ...(headers["access-control-request-private-network"] === "true"
      ? { "Access-Control-Allow-Private-Network": "true" }
      : {}),
  };
}
