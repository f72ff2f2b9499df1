import type { Language } from "../../lib/web/languages.ts";
import type { ReadModel } from "../read/read-model.ts";
import { createElements } from "./elements/elements.ts";
import type { PageContext, PageSettings } from "./page.ts";
import { languages } from "./texts/languages.ts";

/** Where a page is, and what it is made with. */
export type Place = {
  /** From the root, with its query and without a slash before it. */
  path: string;
  /** Leads from the page's folder to the first one. */
  root: string;
  language: Language;
  context: PageContext;
};

export type PlaceOf = (request: { url: string }, language: Language) => Place;

export function createPlaceOf({
  read,
  settings,
  now,
}: {
  read: ReadModel;
  settings: PageSettings;
  now: () => number;
}): PlaceOf {
  return ({ url }, language) => {
    const path = url.replace(/^\/+/, "");
    const root = rootOf(path);
    const texts = languages[language];
    const el = createElements({ texts, root, nameOf: read.nameOf });
    return { path, root, language, context: { texts, read, settings, now, el } };
  };
}

/** "./" at `blocks`, "../" at `block/7`. */
function rootOf(path: string): string {
  const [pathname = ""] = path.split("?", 1);
  const depth = pathname.split("/").length - 1;
  return depth === 0 ? "./" : "../".repeat(depth);
}
