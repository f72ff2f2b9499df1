import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const main = fileURLToPath(new URL("main.ts", import.meta.url));

/** Puts the stand-in where an unpacked Besu has its program, and gives the folder's path: a BESU_HOME. */
export function placeStandIn(folder: string): string {
  const program = join(folder, "bin", "besu");
  mkdirSync(join(folder, "bin"), { recursive: true });
  const command = [process.execPath, "--disable-warning=ExperimentalWarning", main];
  writeFileSync(program, `#!/bin/sh\nexec ${command.map((word) => `'${word}'`).join(" ")} "$@"\n`);
  chmodSync(program, 0o755);
  return folder;
}
