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

const shared = new URL("assets/", import.meta.url);
const sharedSheets = ["tokens.css", "page.css", "controls.css", "content.css"];
const sharedScripts = [
  "elements.js",
  "copy.js",
  "times.js",
  "providers.js",
  "wallet-button.js",
  "ask-for-page.js",
];

/**
 * Reads a page's files out of its folder, and the scripts that all pages share. A style sheet has the tokens and the
 * rules that all pages share before its own.
 */
export function readStaticFiles(folder: URL, names: readonly string[]): StaticFile[] {
  const style = sharedSheets.map((name) => readText(new URL(name, shared))).join("\n");
  return [
    ...names.map((name) => readFile(folder, name, name.endsWith(".css") ? `${style}\n` : "")),
    ...readOwnFiles(shared, sharedScripts),
  ];
}

/** Reads files that stand beside those of `readStaticFiles`, as they are. */
export function readOwnFiles(folder: URL, names: readonly string[]): StaticFile[] {
  return names.map((name) => readFile(folder, name));
}

function readFile(folder: URL, name: string, before = ""): StaticFile {
  const type = types[extname(name)];
  if (type === undefined) throw new Error(`${name}: files of this kind are not served`);
  return { path: `/${name}`, type, body: before + readText(new URL(name, folder)) };
}

function readText(file: URL): string {
  return readFileSync(file, "utf8");
}
