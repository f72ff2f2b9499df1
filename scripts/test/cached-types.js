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
    load(url, context, nextLoad) {
      if (!url.startsWith(root) || !url.endsWith(".ts")) return nextLoad(url, context);
      return { format: "module", source: stripped(fileURLToPath(url)), shortCircuit: true };
    },
  });
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
