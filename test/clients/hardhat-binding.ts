import { glob, readFile, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { delimiter, dirname, join } from "node:path";
import type { Teardown } from "../../scripts/processes/teardown.ts";
import { cachedFolder } from "../helpers/cached-folder.ts";
import { runCommand } from "../helpers/run-command.ts";
import { memberAt } from "./member-at.ts";

/**
 * Hardhat's native part, where `npm install` has left it out: npm takes an optional package only where the Node that runs
 * npm meets its `engines`, and this one wants Node 22. It is then installed once beside the project, by the Node that
 * runs this test.
 *
 * @returns the file for `NAPI_RS_NATIVE_LIBRARY_PATH`; undefined where Hardhat needs no help.
 */
export async function findHardhatBinding(t: Teardown): Promise<string | undefined> {
  const hardhat = createRequire(createRequire(import.meta.url).resolve("hardhat"));
  try {
    hardhat("@nomicfoundation/edr");
    return undefined;
  } catch {
    // Its message says the same of every platform that it tried.
  }
  const manifestFile = join(dirname(hardhat.resolve("@nomicfoundation/edr")), "package.json");
  const manifest: unknown = JSON.parse(await readFile(manifestFile, "utf8"));
  const content = `@nomicfoundation/edr@${memberAt(manifest, "version")}`;
  const folder = await cachedFolder({
    name: "hardhat-binding",
    content,
    fill: async (making) => {
      await writeFile(join(making, "package.json"), '{ "private": true }');
      const PATH = `${dirname(process.execPath)}${delimiter}${process.env["PATH"]}`;
      const args = ["install", "--no-save", "--no-audit", "--no-fund", "--prefix", making, content];
      const { code, lines } = await runCommand(t, { program: "npm", args, env: { ...process.env, PATH } });
      if (code !== 0) throw new Error(`npm could not install ${content}:\n${lines.join("\n")}`);
    },
  });
  const pattern = join(folder, "node_modules", "@nomicfoundation", "edr-*", "edr.*.node");
  for await (const file of glob(pattern)) return file;
  throw new Error(`${content} has no native part for this platform`);
}
