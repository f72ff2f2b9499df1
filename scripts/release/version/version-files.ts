import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** Where the version stands, and where in it. */
const places: readonly { file: string; patterns: readonly RegExp[]; optional?: boolean }[] = [
  { file: "package.json", patterns: [/^( {2}"version": ")[^"]+(")/m] },
  {
    file: "package-lock.json",
    patterns: [/^( {2}"version": ")[^"]+(")/m, /^( {4}"": \{\n(?: {6}.*\n)*? {6}"version": ")[^"]+(")/m],
  },
  {
    file: "docker/helm/tollgate/Chart.yaml",
    patterns: [/^(version: *"?)[^"\s]+("?)/m, /^(appVersion: *"?)[^"\s]+("?)/m],
    // Where there is no chart, nothing has to say its version.
    optional: true,
  },
];

/**
 * The files that tell the version, with another one in them.
 * @throws where one does not tell it as expected.
 */
export function withVersion(root: string, version: string): Map<string, string> {
  const files = new Map<string, string>();
  for (const { file, patterns, optional = false } of places) {
    if (optional && !existsSync(join(root, file))) continue;
    let text = readFileSync(join(root, file), "utf8");
    for (const pattern of patterns) {
      if (!pattern.test(text)) throw new Error(`${file}: there is no version at ${pattern.source}`);
      text = text.replace(pattern, (_, before: string, after: string) => `${before}${version}${after}`);
    }
    files.set(file, text);
  }
  return files;
}
