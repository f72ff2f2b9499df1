import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { StandInFault } from "./faults.ts";

const main = fileURLToPath(new URL("main.ts", import.meta.url));

/**
 * Puts the stand-in where an unpacked Besu has its program, and gives the folder's path: a BESU_HOME. It may say that it is another
 * version, and have a fault.
 */
export function placeStandIn(
  folder: string,
  { version, fault, endsAfterMs }: { version?: string; fault?: StandInFault; endsAfterMs?: number } = {},
): string {
  const program = join(folder, "bin", "besu");
  mkdirSync(join(folder, "bin"), { recursive: true });
  const command = [process.execPath, "--disable-warning=ExperimentalWarning", main];
  const told = { STAND_IN_VERSION: version, STAND_IN_FAULT: fault, STAND_IN_ENDS_AFTER_MS: endsAfterMs };
  const exported = Object.entries(told).map(([name, value]) =>
    value === undefined ? "" : `export ${name}='${value}'\n`,
  );
  writeFileSync(
    program,
    `#!/bin/sh\n${exported.join("")}exec ${command.map((word) => `'${word}'`).join(" ")} "$@"\n`,
  );
  chmodSync(program, 0o755);
  return folder;
}
