import { type Html, html } from "../html.ts";
import { type Language, languageCodes, languageNames } from "../languages.ts";

/** The same page in the other languages, and the name of its own. */
export function languageLinks({
  language,
  root,
  path,
}: {
  language: Language;
  /** Leads to the first page. */
  root: string;
  /** Of the page, from the root, with its query and without a slash before it. */
  path: string;
}): Html[] {
  const [pathname = "", query = ""] = path.split("?", 2);
  return languageCodes.map((code) => {
    const name = languageNames[code];
    if (code === language) return html`<span aria-current="true">${name}</span>`;
    const parameters = new URLSearchParams(query);
    parameters.set("lang", code);
    return html`<a href="${root}${pathname}?${parameters.toString()}" hreflang="${code}" lang="${code}">${name}</a>`;
  });
}
