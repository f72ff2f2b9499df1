import { readFileSync } from "node:fs";
import { readPageStyle } from "../../lib/web/page-style.ts";
import type { Page } from "./routes.ts";

const types = {
  html: "text/html; charset=utf-8",
  css: "text/css; charset=utf-8",
  js: "text/javascript; charset=utf-8",
  svg: "image/svg+xml",
};

const files = [
  { path: "/", file: "index.html", type: types.html },
  { path: "/page.css", file: "page.css", type: types.css },
  { path: "/icon.svg", file: "icon.svg", type: types.svg },
  ...["page.js", "elements.js", "status.js", "values.js", "wallets.js"].map((file) => ({
    path: `/${file}`,
    file,
    type: types.js,
  })),
];

/**
 * Nothing from outside and nothing inline. Images as data: are the icons by which wallets announce themselves
 * (EIP-6963), and no script can run in them. Nobody may put the page into a frame and have its buttons pressed.
 */
const contentSecurityPolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
].join("; ");

/** The page's files from the folder beside this one, by the path under which they are served. */
export function readPageFiles(): ReadonlyMap<string, Page> {
  return new Map(
    files.map(({ path, file, type }) => [
      path,
      {
        headers: {
          "Content-Type": type,
          "Cache-Control": "no-cache",
          "Content-Security-Policy": contentSecurityPolicy,
          "Referrer-Policy": "no-referrer",
        },
        body: readBody(new URL(`page/${file}`, import.meta.url), type),
      },
    ]),
  );
}

function readBody(file: URL, type: string): string {
  return type === types.css ? readPageStyle(file) : readFileSync(file, "utf8");
}
