import { appendFileSync, cpSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import t from "tap";
import { checkNativeLibrary, nativeFile } from "../../scripts/check/check-native-library.ts";

t.test("the uWebSockets.js that is loaded is the one whose hashes stand in the repository", async (t) => {
  t.same(checkNativeLibrary(), []);
});

t.test("a changed, a missing and an added file are each named", async (t) => {
  const folder = mkdtempSync(join(tmpdir(), "tollgate-uws-"));
  t.teardown(() => rmSync(folder, { recursive: true }));
  const installed = dirname(fileURLToPath(import.meta.resolve("uWebSockets.js")));
  for (const name of ["index.mjs", "uws.mjs", nativeFile]) {
    cpSync(join(installed, name), join(folder, name), { recursive: true });
  }
  t.same(checkNativeLibrary({ folder }), [], "other platforms' binaries may be missing");

  writeFileSync(join(folder, "bin", "uws_linux_x64_999.node"), "");
  t.match(checkNativeLibrary({ folder }), [/uws_linux_x64_999\.node is not known/]);
  appendFileSync(join(folder, nativeFile), "\0");
  t.match(checkNativeLibrary({ folder }).join("\n"), `${nativeFile} is another file`);
  rmSync(join(folder, nativeFile));
  t.match(checkNativeLibrary({ folder }).join("\n"), `${nativeFile} is missing`);
});
