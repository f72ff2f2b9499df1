import type { IncomingMessage } from "node:http";
import { chooseLanguage, languageVary, rememberLanguage } from "../../lib/web/choose-language.ts";
import { languageCodes } from "../../lib/web/languages.ts";
import { pageHeaders } from "../../lib/web/page-headers.ts";
import { readStaticFiles, staticCacheControl } from "../../lib/web/static-files.ts";
import { type PageSettings, renderPage } from "./render-page.ts";
import type { PageOf } from "./routes.ts";

const folder = new URL("page/", import.meta.url);
const names = ["page.css", "icon.svg", "page.js", "status.js", "wallets.js"] as const;

/** Images as `data:` are the icons by which wallets announce themselves (EIP-6963). */
const headers = { ...pageHeaders({ dataImages: true }), "Cache-Control": staticCacheControl };

/** The page in each language and its files, by the path under which they are served. */
export function readPageFiles(settings: PageSettings): ReadonlyMap<string, PageOf> {
  const pages = new Map(languageCodes.map((language) => [language, renderPage(language, settings)]));
  const pageOf: PageOf = (request) => {
    const { language, chosen } = chooseLanguage({ query: queryOf(request), headers: request.headers });
    return {
      headers: {
        ...headers,
        "Content-Type": "text/html; charset=utf-8",
        "Content-Language": language,
        Vary: languageVary,
        ...(chosen ? { "Set-Cookie": rememberLanguage(language) } : {}),
      },
      body: pages.get(language) ?? "",
    };
  };
  const files = readStaticFiles(folder, names).map(({ path, type, body }): [string, PageOf] => {
    const file = { headers: { ...headers, "Content-Type": type }, body };
    return [path, () => file];
  });
  return new Map([["/", pageOf], ...files]);
}

function queryOf({ url = "" }: IncomingMessage): Record<string, string> {
  return Object.fromEntries(new URLSearchParams(url.split("?", 2)[1]));
}
