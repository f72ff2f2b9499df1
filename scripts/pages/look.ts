/** One way to look at a page. */
export type Look = {
  language: "en" | "id";
  scheme: "light" | "dark";
  widthPx: 320 | 1280;
  scripts: boolean;
};

export const languages = ["en", "id"] as const;
export const schemes = ["light", "dark"] as const;
export const widthsPx = [1280, 320] as const;

export function nameOf({ language, scheme, widthPx, scripts }: Look): string {
  return [language, scheme, widthPx, ...(scripts ? [] : ["without-scripts"])].join("-");
}

export const localeOf = (language: Look["language"]) => (language === "id" ? "id-ID" : "en-GB");
