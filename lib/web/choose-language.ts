import type { IncomingHttpHeaders } from "node:http";
import { parseCookie, stringifySetCookie } from "cookie";
import Negotiator from "negotiator";
import { isLanguage, type Language, languageCodes } from "./languages.ts";

const languageCookie = "tollgate_language";
const yearSeconds = 31_536_000;

/** On what a page's language depends, for `Vary`. */
export const languageVary = "Accept-Language, Cookie";

/**
 * The language of a page: what its link says (`?lang=id`), else what was chosen before (a cookie), else what the browser
 * prefers (`Accept-Language`, RFC 9110 section 12.5.4), else `fallback`.
 */
export function chooseLanguage(
  { query, headers }: { query: unknown; headers: IncomingHttpHeaders },
  fallback: Language = "en",
): {
  language: Language;
  /** Whether the link says it: it is remembered then. */
  chosen: boolean;
} {
  const lang = languageAsked(query);
  if (isLanguage(lang)) return { language: lang, chosen: true };
  const kept = headers.cookie === undefined ? undefined : parseCookie(headers.cookie)[languageCookie];
  if (isLanguage(kept)) return { language: kept, chosen: false };
  if (headers["accept-language"] === undefined) return { language: fallback, chosen: false };
  // Who takes any language gets the first.
  const preferred = new Negotiator({ headers }).language([fallback, ...languageCodes]);
  return { language: isLanguage(preferred) ? preferred : fallback, chosen: false };
}

/** The value of `Set-Cookie` that remembers a choice for a year. */
export function rememberLanguage(language: Language): string {
  return stringifySetCookie({
    name: languageCookie,
    value: language,
    path: "/",
    maxAge: yearSeconds,
    sameSite: "lax",
    httpOnly: true,
  });
}

/** `lang` of a query at which nobody has looked yet: what stands in it twice is a list. */
function languageAsked(query: unknown): string | undefined {
  const lang = typeof query === "object" && query !== null && "lang" in query ? query.lang : undefined;
  return typeof lang === "string" ? lang : undefined;
}
