#!/usr/bin/env node
// A native solc's command line over the compiler from npm, which has no program that forge and slither can run.
import { readFileSync } from "node:fs";
import { stdin, stdout } from "node:process";
import { text } from "node:stream/consumers";
import solc from "solc";

const version = solc.version().replace("Emscripten.clang", "Linux.g++");
if (process.argv.includes("--version")) {
  stdout.write(`solc, the solidity compiler commandline interface\nVersion: ${version}\n`);
} else {
  stdout.write(solc.compile(await text(stdin), { import: read }));
}

/** slither names files where forge gives their text. */
function read(path) {
  try {
    return { contents: readFileSync(path, "utf8") };
  } catch {
    return { error: `${path} cannot be read` };
  }
}
