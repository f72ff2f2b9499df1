import { parseCookie } from "cookie";
import type { FastifyRequest } from "fastify";
import Negotiator from "negotiator";
import { z } from "zod";
import { isLanguage, type Language, languageCodes } from "./texts/languages.ts";

export const languageCookie = "tollgate_language";

const query = z.object({ lang: z.string().optional() });

/**
 * The language of a page: what its link says (`?lang=id`), else what was chosen before (a cookie), else what the browser
 * prefers (`Accept-Language`, RFC 9110 section 12.5.4), else English.
 */
export function chooseLanguage({ query: given, headers }: Pick<FastifyRequest, "query" | "headers">): {
  language: Language;
  /** Whether the link says it: it is remembered then. */
  chosen: boolean;
} {
  const { lang } = query.catch({}).parse(given);
  if (isLanguage(lang)) return { language: lang, chosen: true };
  const kept = parseCookie(headers.cookie ?? "")[languageCookie];
  if (isLanguage(kept)) return { language: kept, chosen: false };
  const preferred = new Negotiator({ headers }).language([...languageCodes]);
  return { language: isLanguage(preferred) ? preferred : "en", chosen: false };
}
