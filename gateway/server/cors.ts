import type { Reply, RequestHead } from "./exchange.ts";

/*
 * Cross-origin requests of web pages (Fetch Standard, "HTTP CORS protocol"). Pages of any origin may ask and may read the
 * answers: the gateway opens by a key in a header that the page has to set itself, never by something that a browser
 * adds (cookies, client certificates), so an origin proves nothing. A team's list of origins is checked later, when
 * the key is known (`stages/check-origin.ts`): a preflight has no key.
 */

/** What a page may read of an answer besides the headers that every page may. */
const exposedHeaders =
  "RateLimit-Policy, RateLimit, Retry-After, X-Tollgate-Cache, X-Tollgate-Validator, Server-Timing";

const corsHeaders = {
  "Access-Control-Allow-Origin": "*",
  "Access-Control-Expose-Headers": exposedHeaders,
};

/** A preflight: a browser asks whether a request may follow. */
export function isPreflight({ method, origin, requestedMethod }: RequestHead): boolean {
  return method === "OPTIONS" && origin !== undefined && requestedMethod !== undefined;
}

/** Allowed on every path: a page can read a 404, but it learns nothing from a preflight that fails. */
export const preflightReply: Reply = {
  status: 204,
  headers: {
    "Access-Control-Allow-Methods": "POST",
    // Names for browsers that do not know the asterisk; the asterisk for headers that tracing libraries add.
    "Access-Control-Allow-Headers": "Content-Type, X-API-Key, Cache-Control, *",
    // Two hours: the most that Chromium keeps.
    "Access-Control-Max-Age": "7200",
  },
  body: undefined,
};

/** The reply to a request with an `Origin`. */
export function withCors(reply: Reply): Reply {
  return { ...reply, headers: { ...reply.headers, ...corsHeaders } };
}
