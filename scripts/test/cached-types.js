// Preloaded into test files and the programs that they start: Node.js strips types of 200 to 300 files in each process, a
// third of what its start costs. Here each file's text is stripped once and kept by its hash.
import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import module from "node:module";
import { join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";

const root = new URL("../../", import.meta.url).href;
const folder = fileURLToPath(
  new URL(`../../node_modules/.cache/tollgate-types-${process.version}/`, import.meta.url),
);

// A program under test may be run by an older Node.js.
if (module.registerHooks !== undefined && module.stripTypeScriptTypes !== undefined) {
  mkdirSync(folder, { recursive: true });
  module.registerHooks({
    // A file is asked for by its whole name: there is nothing to look up.
    resolve(specifier, context, nextResolve) {
      const parent = context.parentURL;
      if (!isOwn(parent) || !/^\.{1,2}\/.*\.ts$/.test(specifier)) return nextResolve(specifier, context);
      return { url: new URL(specifier, parent).href, format: "module", shortCircuit: true };
    },
    load(url, context, nextLoad) {
      if (!isOwn(url)) return nextLoad(url, context);
      return { format: "module", source: stripped(fileURLToPath(url)), shortCircuit: true };
    },
  });
}

function isOwn(url) {
  return url?.startsWith(root) === true && url.endsWith(".ts");
}

function stripped(file) {
  const text = readFileSync(file, "utf8");
  const kept = join(folder, createHash("sha256").update(text).digest("hex"));
  try {
    return readFileSync(kept, "utf8");
  } catch {
    const source = module.stripTypeScriptTypes(text);
    // Whole or not at all: other processes look for it at the same time.
    const part = `${kept}.${process.pid}`;
    writeFileSync(part, source);
    renameSync(part, kept);
    return source;
  }
}
