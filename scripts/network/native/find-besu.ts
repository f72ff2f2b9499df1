import { constants } from "node:fs";
import { access } from "node:fs/promises";
import { join } from "node:path";

/** Besu's program in an unpacked distribution, which BESU_HOME names; or what to do. */
export async function findBesu(
  env: Readonly<Record<string, string | undefined>>,
): Promise<{ program: string } | { failed: string }> {
  const home = env["BESU_HOME"];
  if (home === undefined || home === "") {
    return {
      failed:
        "BESU_HOME is not set. It names the folder of an unpacked Besu 26.8.0, whose bin/besu is run: " +
        "put BESU_HOME=/opt/besu-26.8.0, say, before the command",
    };
  }
  const program = join(home, "bin", "besu");
  try {
    await access(program, constants.X_OK);
    return { program };
  } catch {
    return { failed: `BESU_HOME is ${home}, but there is no program ${program}: is it an unpacked Besu?` };
  }
}
