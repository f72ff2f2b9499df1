import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import t from "tap";
import { testFolder } from "../helpers/test-folder.ts";
import { findNpm } from "./build-images.ts";

const ownPrograms = fileURLToPath(new URL("../../node_modules/.bin", import.meta.url));

t.test("npm is found behind another Node.js that stands before it on PATH", async (t) => {
  const folder = testFolder(t);
  const npm = join(folder, "lib/node_modules/npm");
  mkdirSync(join(npm, "bin"), { recursive: true });
  mkdirSync(join(folder, "bin"));
  writeFileSync(join(npm, "bin/npm-cli.js"), "", { mode: 0o755 });
  symlinkSync("../lib/node_modules/npm/bin/npm-cli.js", join(folder, "bin/npm"));
  t.equal(await findNpm([ownPrograms, join(folder, "bin")].join(delimiter)), npm);
  await t.rejects(findNpm(join(folder, "lib")), /npm is not on PATH/);
});

t.test("this machine's is npm itself", async (t) => {
  const folder = await findNpm([ownPrograms, process.env["PATH"]].join(delimiter));
  const { default: about } = await import(join(folder, "package.json"), { with: { type: "json" } });
  t.match(about, { name: "npm" });
});
