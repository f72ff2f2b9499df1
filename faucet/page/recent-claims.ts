import { parseCookie, stringifySetCookie } from "cookie";
import { claimIdPattern } from "../claims/claim.ts";

const name = "tollgate_claims";
const claimsMax = 5;

/** The claims that were made in a browser, newest first, out of its cookies. */
export function readRecentClaims(cookies: string | undefined): string[] {
  const ids = parseCookie(cookies ?? "")[name]?.split(".") ?? [];
  return [...new Set(ids)].filter((id) => claimIdPattern.test(id)).slice(0, claimsMax);
}

/** The value of `Set-Cookie` that adds a claim to them. */
export function rememberClaim(
  cookies: string | undefined,
  { id, keptMs }: { id: string; keptMs: number },
): string {
  const others = readRecentClaims(cookies).filter((other) => other !== id);
  return stringifySetCookie({
    name,
    value: [id, ...others].slice(0, claimsMax).join("."),
    path: "/",
    maxAge: Math.floor(keptMs / 1000),
    sameSite: "lax",
    httpOnly: true,
  });
}
