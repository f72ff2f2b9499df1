import { readFileSync } from "node:fs";
import { html } from "../../lib/web/html.ts";
import { pageHeaders } from "../../lib/web/page-headers.ts";
import { pageShell } from "../../lib/web/page-shell.ts";
import { readStaticFiles, staticCacheControl } from "../../lib/web/static-files.ts";
import type { Page } from "./routes.ts";

const folder = new URL("page/", import.meta.url);
const names = [
  "page.css",
  "icon.svg",
  "page.js",
  "elements.js",
  "status.js",
  "values.js",
  "wallets.js",
] as const;

/** Images as `data:` are the icons by which wallets announce themselves (EIP-6963). */
const headers = { ...pageHeaders({ dataImages: true }), "Cache-Control": staticCacheControl };

/** Where the page leads to when the wallet has the network. */
export type PageLinks = {
  explorerUrl: string;
  /** Empty: there is no link. */
  faucetUrl: string;
};

/** The page and its files, by the path under which they are served. */
export function readPageFiles({ explorerUrl, faucetUrl }: PageLinks): ReadonlyMap<string, Page> {
  const page = pageShell({
    title: "Add the network",
    product: "wallet proxy",
    bodyAttributes: html` data-explorer="${explorerUrl}" data-faucet="${faucetUrl}"`,
    main: { text: readFileSync(new URL("main.html", folder), "utf8") },
  });
  const files = [
    { path: "/", type: "text/html; charset=utf-8", body: page },
    ...readStaticFiles(folder, names),
  ];
  return new Map(
    files.map(({ path, type, body }) => [path, { headers: { ...headers, "Content-Type": type }, body }]),
  );
}
