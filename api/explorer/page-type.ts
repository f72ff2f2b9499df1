import { languageVary } from "../../lib/web/choose-language.ts";
import { pageHeaders } from "../../lib/web/page-headers.ts";

export const pageType = "text/html; charset=utf-8";

/** Of every page of the explorer. */
export const explorerHeaders = {
  ...pageHeaders({ formsTo: "self" }),
  // The same URL in the language of whoever asks.
  Vary: `${languageVary}, Origin`,
  "Content-Type": pageType,
};
