import type { Profile } from "./api-key.ts";
import type { FoundKey } from "./key-reader.ts";

/**
 * Why a key that was found is refused, as a code of the error table; `undefined` if it is good.
 *
 * `ageMs` is the time since the look-up by a monotonic clock, so that a wrong clock of the gateway has no say in
 * when a key expires. In production a development key counts as unknown: its record may be there because one Redis served
 * both, and its secret may be in a file.
 */
export function keyRefusal({
  key,
  ageMs,
  profile,
}: {
  key: FoundKey;
  ageMs: number;
  profile: Profile;
}): "api_key_invalid" | "api_key_revoked" | "api_key_expired" | undefined {
  if (profile === "production" && (key.profile !== "production" || key.seededFor !== undefined)) {
    return "api_key_invalid";
  }
  if (key.revokedAtMs !== undefined) return "api_key_revoked";
  if (key.expiresInMs !== undefined && key.expiresInMs <= ageMs) return "api_key_expired";
  return undefined;
}
