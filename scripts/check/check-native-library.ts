import { hash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

/** Known files of the installed uWebSockets.js, in the form of `sha256sum`. */
const knownFile = fileURLToPath(new URL("../../gateway/server/uws.sha256", import.meta.url));

/** The file that `import "uWebSockets.js"` loads in this process. */
export const nativeFile = `bin/uws_${process.platform}_${process.arch}_${process.versions.modules}.node`;

/**
 * Compares every file of the library that could be loaded with what is known of it, and says what differs. Binaries of
 * other platforms may be missing, as in our images; unknown ones may not be there.
 */
export function checkNativeLibrary({
  folder = dirname(fileURLToPath(import.meta.resolve("uWebSockets.js"))),
}: {
  folder?: string;
} = {}): string[] {
  const known = new Map(
    readFileSync(knownFile, "utf8")
      .trim()
      .split("\n")
      .map((line) => [line.slice(66), line.slice(0, 64)]),
  );
  const found = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((name) =>
    /\.(?:node|[cm]?js)$/.test(name),
  );
  const problems = found.flatMap((name) => {
    const expected = known.get(name);
    if (expected === undefined) return [`${name} is not known`];
    return hash("sha256", readFileSync(join(folder, name))) === expected ? [] : [`${name} is another file`];
  });
  const needed = ["index.mjs", "uws.mjs", nativeFile];
  const missing = needed.filter((name) => !found.includes(name)).map((name) => `${name} is missing`);
  return [...problems, ...missing].map((problem) => `uWebSockets.js: ${problem} (${basename(knownFile)})`);
}
