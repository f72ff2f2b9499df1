/** What pages of ours remember: nothing that opens anything. */
const names = ["tollgate_language", "tollgate_theme"] as const;
const value = /^[A-Za-z0-9_-]{1,32}$/;

/** Whether a cookie is one that a proxy of ours passes on. */
export function isOwnCookie(name: string, text: string): boolean {
  return names.some((own) => own === name) && value.test(text);
}

/**
 * A `Cookie` header with our pages' cookies alone; undefined where there is none. All ports of a host share cookies, so a
 * browser sends those of strangers too.
 */
export function ownCookies(header: string | undefined): string | undefined {
  if (header === undefined) return undefined;
  const own = header
    .split(";")
    .map((pair) => pair.trim())
    .filter((pair) => {
      const at = pair.indexOf("=");
      return isOwnCookie(pair.slice(0, at), pair.slice(at + 1));
    });
  return own.length === 0 ? undefined : own.slice(0, names.length).join("; ");
}
