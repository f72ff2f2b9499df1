import { parseCookie, stringifySetCookie } from "cookie";

export type SessionCookie = ReturnType<typeof createSessionCookie>;

/**
 * The cookie that a browser's session is in: no script reads it, no page of others sends it along with a POST (SameSite=Lax).
 * Under https its name begins with `__Host-`, so that no other host of the domain can set it (RFC 6265bis); browsers take
 * that name under https alone, so on a development machine it is the plain one.
 */
export function createSessionCookie({
  isSecure,
  settings,
}: {
  isSecure: boolean;
  settings: { readonly lifetimeSeconds: number };
}) {
  const name = isSecure ? "__Host-svc_session" : "svc_session";
  const attributes = { path: "/", httpOnly: true, secure: isSecure, sameSite: "lax" } as const;

  return {
    name,
    /** What a request's `Cookie` has; undefined where it has none. */
    read: (field: string | undefined) => (field === undefined ? undefined : parseCookie(field)[name]),
    /** Values of `Set-Cookie`. */
    give: (token: string) =>
      stringifySetCookie({ ...attributes, name, value: token, maxAge: settings.lifetimeSeconds }),
    takeBack: () => stringifySetCookie({ ...attributes, name, value: "", maxAge: 0 }),
  };
}
