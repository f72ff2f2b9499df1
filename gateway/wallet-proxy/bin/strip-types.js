// Preloaded by the launcher beside it: types are stripped from this package's own files, wherever they are installed.
import { readFileSync } from "node:fs";
import module from "node:module";
import process from "node:process";
import { fileURLToPath } from "node:url";

const ownFolder = new URL("../../../", import.meta.url).href;

// Node.js 22.15 and 23.5 brought the hooks.
if (module.registerHooks === undefined || module.stripTypeScriptTypes === undefined) {
  process.stderr.write(`Node.js 22.15 or newer is needed; this is ${process.version}.\n`);
  process.exit(1);
}

module.registerHooks({
  load(url, context, nextLoad) {
    const isOwn = url.startsWith(ownFolder) && !url.slice(ownFolder.length).startsWith("node_modules/");
    if (!isOwn || !url.endsWith(".ts")) return nextLoad(url, context);
    const source = module.stripTypeScriptTypes(readFileSync(fileURLToPath(url), "utf8"));
    return { format: "module", source, shortCircuit: true };
  },
});
