import type { Language } from "../../../../lib/web/languages.ts";
import { en, type Texts } from "./en.ts";
import { id } from "./id.ts";

/** The texts by language. */
export const languages: Readonly<Record<Language, Texts>> = { en, id };
