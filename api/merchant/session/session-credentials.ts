import type { IncomingHttpHeaders } from "node:http";
import { type Refusal, refusal } from "../../../lib/http-service/refusal.ts";
import { checkApiKey } from "../../../lib/keys/api-key.ts";
import type { SessionCookie } from "./session-cookie.ts";
import { isSessionToken } from "./session-token.ts";

/** Headers that API keys come in. */
const keyHeaders = ["x-svc-dev-key", "x-api-key"];

/**
 * The token that a request is proved with, and how it came. A bearer token counts before a cookie: it was written on purpose, a
 * cookie comes along by itself.
 */
export function readCredentials(
  headers: IncomingHttpHeaders,
  cookie: SessionCookie,
): { token: string; by: "bearer" | "cookie" } | Refusal {
  const [, bearer] = /^bearer +(.*)$/i.exec(headers.authorization?.trim() ?? "") ?? [];
  if (bearer !== undefined) {
    if (isSessionToken(bearer)) return { token: bearer, by: "bearer" };
    return checkApiKey(bearer, "svc") === "foreign" ? notAToken : keyInstead;
  }
  const kept = cookie.read(headers.cookie);
  if (kept !== undefined && isSessionToken(kept)) return { token: kept, by: "cookie" };
  return keyHeaders.some((name) => headers[name] !== undefined) ? keyInstead : missing;
}

const how = "sign in with a wallet at POST /api/v1/svc-dev/session";

/** 401 names the scheme that it takes (RFC 9110 section 11.6.1). */
export const challenge = { headers: { "WWW-Authenticate": 'Bearer realm="wallet session"' } };

const missing = refusal("session_required", `No wallet session was sent: ${how}`, challenge);
const notAToken = refusal("session_required", `The bearer token is no session's: ${how}`, challenge);
const keyInstead = refusal(
  "session_required",
  `An API key does not open this, which is for a wallet's owner: ${how}`,
  challenge,
);
/** The token is well formed, and there is no such session. */
export const sessionEnded = refusal("session_required", `The session has ended: ${how}`, challenge);
