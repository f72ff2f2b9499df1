import { checkApiKey, hashApiKey } from "../../lib/api-key.ts";
import type { KeyRecord } from "../../lib/key-store/key-record.ts";
import type { RequestHead } from "../http-server.ts";
import { type Refusal, refusal } from "../refusal.ts";

/** Finds a key's record by SHA-256 of its value. `"unavailable"`: not in memory, and Redis does not answer. */
export type FindKey = (
  hash: string,
) => KeyRecord | undefined | Promise<KeyRecord | undefined | "unavailable">;

const keyCharsMax = 200;

/**
 * Who asks: the header `X-API-Key` to the key's record. A key that reads but is not one (a typing error, by its
 * checksum) is refused without asking Redis.
 */
export async function authenticate(
  head: RequestHead,
  { findKey, now }: { findKey: FindKey; now: () => number },
): Promise<KeyRecord | Refusal> {
  const { apiKey, apiKeyCount } = head;
  if (apiKeyCount > 1) return refusal("invalid_request", "The header X-API-Key was sent more than once");
  if (apiKey === undefined || apiKey === "") return unauthorized("api_key_missing", missingMessage(head));
  if (apiKey.length > keyCharsMax) return unauthorized("api_key_invalid", "The API key is unknown");
  if (checkApiKey(apiKey) === "mistyped") {
    return unauthorized(
      "api_key_invalid",
      "The API key is mistyped: its checksum does not match. Copy it again",
    );
  }
  const found = findKey(hashApiKey(apiKey));
  const key = found instanceof Promise ? await found : found;
  if (key === "unavailable") {
    return refusal("upstream_unavailable", "API keys cannot be checked at the moment; try again shortly", {
      headers: { "Retry-After": "1" },
    });
  }
  if (key === undefined) return unauthorized("api_key_invalid", "The API key is unknown");
  if (key.revokedAtMs !== undefined && key.revokedAtMs <= now()) {
    return unauthorized("api_key_revoked", "The API key was revoked; ask your operator for a new one");
  }
  if (key.expiresAtMs !== undefined && key.expiresAtMs <= now()) {
    return unauthorized("api_key_expired", "The API key has expired; ask your operator for a new one");
  }
  if (!key.permissions.includes("rpc")) {
    return refusal("insufficient_permission", "This API key has no permission for JSON-RPC calls (rpc)");
  }
  return key;
}

/** RFC 9110 section 15.5.2: a 401 names the scheme that would be accepted. */
function unauthorized(condition: Parameters<typeof refusal>[0], message: string): Refusal {
  return refusal(condition, message, {
    headers: { "WWW-Authenticate": 'ApiKey realm="tollgate", header="X-API-Key"' },
  });
}

function missingMessage({ query }: RequestHead): string {
  return query === ""
    ? "Send your API key in the header X-API-Key"
    : "Send your API key in the header X-API-Key; it is never taken from the URL, where logs would keep it";
}
