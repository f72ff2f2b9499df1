/** The languages of all pages by their codes (BCP 47), each with its own name; the default stands first. */
export const languageNames = { en: "English", id: "Bahasa Indonesia" } as const;

export type Language = keyof typeof languageNames;

export const languageCodes: readonly Language[] = ["en", "id"];

export function isLanguage(text: unknown): text is Language {
  return languageCodes.some((code) => code === text);
}
