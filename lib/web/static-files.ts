import { readFileSync } from "node:fs";
import { extname } from "node:path";

/** A file as it is served, read once. */
export type StaticFile = { path: string; type: string; body: string };

const types: Readonly<Record<string, string>> = {
  ".css": "text/css; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".svg": "image/svg+xml",
};

/** What a browser may do with a copy: keep it, and ask each time whether it is still true. */
export const staticCacheControl = "no-cache";

/** Reads a page's files out of its folder. A style sheet has the tokens and the rules that all pages share before its own. */
export function readStaticFiles(folder: URL, names: readonly string[]): StaticFile[] {
  return names.map((name) => {
    const type = types[extname(name)];
    if (type === undefined) throw new Error(`${name}: files of this kind are not served`);
    const own = readText(new URL(name, folder));
    return { path: `/${name}`, type, body: name.endsWith(".css") ? sharedStyle() + own : own };
  });
}

function sharedStyle(): string {
  const sheets = ["tokens.css", "page.css"].map((name) => readText(new URL(name, import.meta.url)));
  return `${sheets.join("\n")}\n`;
}

function readText(file: URL): string {
  return readFileSync(file, "utf8");
}
