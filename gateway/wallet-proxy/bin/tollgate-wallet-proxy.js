#!/usr/bin/env node
// Runs the wallet proxy from an installed package, whatever Node.js the machine has: with the one that came with the
// install, and with a hook, since Node.js itself runs no TypeScript that lies under node_modules.
import { spawn } from "node:child_process";
import { createRequire } from "node:module";
import { arch, platform } from "node:os";
import { dirname, join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";

const child = spawn(
  nodeProgram(),
  [
    "--disable-warning=ExperimentalWarning",
    ...["--import", new URL("strip-types.js", import.meta.url).href],
    fileURLToPath(new URL("../main.ts", import.meta.url)),
    ...process.argv.slice(2),
  ],
  { stdio: "inherit" },
);
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, () => child.kill(signal));
child.once("error", (error) => {
  process.stderr.write(`The wallet proxy cannot be run: ${error.message}\n`);
  process.exitCode = 1;
});
child.once("exit", (code) => {
  process.exitCode = code ?? 1;
});

/** The Node.js that came with the install; where there is none for this system, the one that runs this file. */
function nodeProgram() {
  try {
    const manifest = createRequire(import.meta.url).resolve(`node-${platform()}-${arch()}/package.json`);
    return join(dirname(manifest), "bin", "node");
  } catch {
    return process.execPath;
  }
}
