import { en, type Texts } from "./en.ts";
import { id } from "./id.ts";

/** By their codes (BCP 47), the default first. */
export const languages = { en, id } as const satisfies Record<string, Texts>;

export type Language = keyof typeof languages;

export const languageCodes: readonly Language[] = ["en", "id"];

export function isLanguage(text: unknown): text is Language {
  return languageCodes.some((code) => code === text);
}
