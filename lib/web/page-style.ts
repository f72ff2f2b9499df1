import { readFileSync } from "node:fs";

/** A page's style sheet: what the pages of all processes share, and after it the rules of `own`. */
export function readPageStyle(own: URL): string {
  const shared = readFileSync(new URL("page.css", import.meta.url), "utf8");
  return `${shared}\n${readFileSync(own, "utf8")}`;
}
